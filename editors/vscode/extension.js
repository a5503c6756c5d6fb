// Starts `breakroom dap` as the debug adapter of the type `breakroom`, and fills in a launch for F5 without a launch.json.
// It does not speak DAP and keeps no session: the hub does both.
"use strict";

const { execFile } = require("node:child_process");
const { statSync } = require("node:fs");
const { homedir } = require("node:os");
const path = require("node:path");
const vscode = require("vscode");

const TYPE = "breakroom";

function activate(context) {
  const { debug, commands } = vscode;
  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  context.subscriptions.push(
    debug.registerDebugAdapterDescriptorFactory(TYPE, { createDebugAdapterDescriptor }),
    debug.registerDebugConfigurationProvider(TYPE, { resolveDebugConfiguration, provideDebugConfigurations }),
    debug.registerDebugConfigurationProvider(TYPE, { provideDebugConfigurations }, dynamic),
    commands.registerCommand("breakroom.pickSession", pickSession),
    commands.registerCommand("breakroom.join", join),
  );
}

function createDebugAdapterDescriptor({ configuration, workspaceFolder }) {
  const kind = configuration.debugger ? ["--type", configuration.debugger] : [];
  const cwd = workspaceFolder?.uri.scheme === "file" ? workspaceFolder.uri.fsPath : undefined;
  return new vscode.DebugAdapterExecutable(binary(), ["dap", ...kind], cwd ? { cwd } : undefined);
}

// VS Code asks with an empty configuration if there is no launch.json.
function resolveDebugConfiguration(_folder, configuration) {
  if (configuration.request) {
    return configuration;
  }
  const document = vscode.window.activeTextEditor?.document;
  if (document?.uri.scheme !== "file") {
    vscode.window.showInformationMessage("Breakroom debugs files: open one that is saved, or write a launch.json.");
    return undefined;
  }
  return { ...configuration, ...thisFile, program: document.uri.fsPath };
}

const thisFile = { type: TYPE, request: "launch", name: "Breakroom: this file", program: "${file}" };

function provideDebugConfigurations(folder) {
  const project = { ...thisFile, name: "Breakroom: the project in this folder", program: "${workspaceFolder}" };
  return [thisFile, ...(folder ? [project] : []), joining("${command:pickSession}")];
}

function joining(session) {
  return { type: TYPE, request: "attach", name: "Breakroom: join a live session", breakroom: { session } };
}

// The id of a live session, or undefined, which ends a launch without a message.
async function pickSession() {
  const listed = await new Promise((resolve, reject) =>
    execFile(binary(), ["ls", "--json"], (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(JSON.parse(stdout)),
    ),
  );
  const sessions = listed.filter((session) => session.state !== "ended");
  if (sessions.length === 0) {
    vscode.window.showInformationMessage("Breakroom has no live sessions.");
    return undefined;
  }
  const items = sessions.map(({ id, name, state, clients }) => ({
    label: name || id,
    description: `${id}, ${state}`,
    detail: clients.join(", "),
    id,
  }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: "Which session?", matchOnDescription: true });
  return picked?.id;
}

async function join() {
  const session = await pickSession();
  return session && vscode.debug.startDebugging(undefined, joining(session));
}

// A VS Code that was started from the desktop often lacks the folder of `cargo install` in its PATH.
function binary() {
  const setting = vscode.workspace.getConfiguration(TYPE).get("path") || TYPE;
  const named = setting.startsWith("~/") ? path.join(homedir(), setting.slice(2)) : setting;
  const folders = [...(process.env.PATH ?? "").split(path.delimiter), path.join(homedir(), ".cargo/bin")];
  const candidates = path.isAbsolute(named) ? [named] : folders.map((folder) => path.join(folder, named));
  const found = candidates.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  if (!found) {
    throw new Error(
      `Cannot start Breakroom: no program "${setting}"${path.isAbsolute(named) ? "" : " in PATH"}. ` +
        'Install it (cargo install --path crates/breakroom), or set "breakroom.path" to its absolute path.',
    );
  }
  return found;
}

module.exports = { activate };
