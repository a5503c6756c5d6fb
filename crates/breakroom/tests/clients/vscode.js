// Drives a whole session with the client that VS Code's own adapters are tested with.
// Arguments: the folder of its package, the port of the hub, and as JSON: the type, the launch arguments, the source, the
// line of a breakpoint, whether it is verified before the program runs, and what the program prints last.
const [folder, port, wanted] = process.argv.slice(2);
const { type, launch, path, line, verified, printed } = JSON.parse(wanted);
const { DebugClient } = require(folder + "/node_modules/@vscode/debugadapter-testsupport");

async function session() {
  const client = new DebugClient("node", "", type);
  client.defaultTimeout = 60000;
  // Its own errors do not say what failed.
  const send = client.send.bind(client);
  const named = (command) => (error) => Promise.reject(new Error(command + ": " + error.message));
  client.send = (command, arguments) => send(command, arguments).catch(named(command));
  let threadId;
  let output = "";
  client.on("stopped", (event) => (threadId = event.body.threadId));
  client.on("output", (event) => (output += event.body.output));
  await client.start(Number(port));
  await client.hitBreakpoint({ type, ...launch }, { path, line, verified });
  const { body } = await client.threadsRequest();
  if (!body.threads.some((thread) => thread.id === threadId)) {
    throw new Error("the thread that stopped is not listed");
  }
  const stack = await client.stackTraceRequest({ threadId });
  const scopes = await client.scopesRequest({ frameId: stack.body.stackFrames[0].id });
  const { variablesReference } = scopes.body.scopes[0];
  const variables = await client.variablesRequest({ variablesReference });
  console.log("variables " + variables.body.variables.map((variable) => variable.name).join(" "));
  await Promise.all([client.nextRequest({ threadId }), client.waitForEvent("stopped")]);
  await client.setBreakpointsRequest({ source: { path }, breakpoints: [] });
  await Promise.all([client.continueRequest({ threadId }), client.waitForEvent("terminated")]);
  if (!output.includes(printed)) {
    throw new Error("the program did not print " + printed + ": " + output);
  }
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
