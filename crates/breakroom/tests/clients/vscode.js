// Drives a whole session with the client that VS Code's own adapters are tested with.
// Arguments: the folder of its package, the port of the hub, the program, the line of a breakpoint, a line it prints.
const [folder, port, program, line, printed] = process.argv.slice(2);
const { DebugClient } = require(folder + "/node_modules/@vscode/debugadapter-testsupport");

async function session() {
  const client = new DebugClient("node", "", "python");
  client.defaultTimeout = 60000;
  await client.start(Number(port));
  const launch = { type: "python", program, console: "internalConsole" };
  await client.hitBreakpoint(launch, { path: program, line: Number(line) });
  const { body } = await client.threadsRequest();
  const threadId = body.threads[0].id;
  const stack = await client.stackTraceRequest({ threadId });
  const scopes = await client.scopesRequest({ frameId: stack.body.stackFrames[0].id });
  const { variablesReference } = scopes.body.scopes[0];
  const variables = await client.variablesRequest({ variablesReference });
  console.log("variables " + variables.body.variables.map((variable) => variable.name).join(" "));
  await Promise.all([client.nextRequest({ threadId }), client.waitForEvent("stopped")]);
  await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
  await Promise.all([
    client.continueRequest({ threadId }),
    client.assertOutput("stdout", printed),
    client.waitForEvent("terminated"),
  ]);
  // It sends `disconnect` and waits for the answer.
  await client.stop();
}

session().then(
  () => console.log("done"),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
