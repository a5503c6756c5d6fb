// Drives the workbench of VS Code in Chromium: what a person does with keys and the mouse, and what they see then.
// Arguments: the folder of playwright-core, the browser, the address of the workbench, and as JSON a list of steps.
// Each step is one of the functions below with its arguments. Prints one line for each, and a picture's path at a failure.
const [folder, browser, address, picture, steps] = process.argv.slice(2);
const { chromium } = require(folder);

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const PATIENCE = 60000;

const actions = (page) => {
  const wait = (selector, options) => page.waitForSelector(selector, options);
  const row = (area, text) => page.locator(`${area} .monaco-list-row`, { hasText: text }).first();
  const words = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();

  // The workbench knows a language of the extension when it has read the extension.
  async function open(file, language) {
    await page.keyboard.press("Control+Shift+E");
    await row(".explorer-folders-view", file).dblclick();
    await wait(`.tab.active:has-text("${file}")`);
    if (language) {
      await wait(`.statusbar-item:has-text("${language}")`);
    }
    return file;
  }

  async function setBreakpoint(text) {
    await page.locator(".view-line", { hasText: text }).first().click();
    const glyph = page.locator(".glyph-margin-widgets .codicon-debug-breakpoint");
    // F9 does nothing until the workbench has read which languages can have breakpoints.
    for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
      await page.keyboard.press("F9");
      if (await glyph.waitFor({ timeout: 2000 }).then(() => true, () => false)) {
        return text;
      }
    }
    throw new Error(`no breakpoint can be set at ${text}`);
  }

  // `choose` is picked if VS Code asks which of several debuggers is meant.
  async function start(choose) {
    await page.keyboard.press("F5");
    return choose ? pick(choose) : "F5";
  }

  async function pick(text) {
    const choice = row(".quick-input-widget", text);
    await choice.waitFor();
    const shown = await words(choice);
    await choice.click();
    return shown;
  }

  async function command(name) {
    await page.keyboard.press("F1");
    await wait(".quick-input-widget input:visible");
    await page.keyboard.type(name);
    return pick(name);
  }

  async function stops(variable) {
    await wait(".debug-call-stack .stack-frame");
    const shown = row(".debug-variables", variable);
    await shown.waitFor();
    const sessions = await page.locator(".debug-call-stack .session .name").allInnerTexts();
    const frame = await words(page.locator(".debug-call-stack .stack-frame").first());
    return `${frame} | ${await words(shown)} | ${sessions.join(", ").replace(/\d{2,}/g, "N")}`;
  }

  async function goesOn(printed) {
    await page.keyboard.press("F5");
    await wait(".debug-toolbar", { state: "hidden" });
    // Each session has a console of its own, and which one is shown after the end is up to VS Code.
    if (printed) {
      await row(".repl", printed).waitFor();
    }
    return printed ?? "ended";
  }

  async function leave() {
    await page.keyboard.press("Shift+F5");
    await wait(".debug-toolbar", { state: "hidden" });
    return "left";
  }

  async function complains() {
    return words(page.locator(".monaco-dialog-box .dialog-message-container"));
  }

  return { open, setBreakpoint, start, pick, command, stops, goesOn, leave, complains };
};

async function drive() {
  const chromiumProcess = await chromium.launch({ executablePath: browser, args: FLAGS });
  const page = await chromiumProcess.newPage({ viewport: { width: 1400, height: 1000 } });
  page.setDefaultTimeout(PATIENCE);
  try {
    await page.goto(address);
    await page.waitForSelector(".monaco-workbench .part.statusbar");
    const does = actions(page);
    for (const [action, ...words] of JSON.parse(steps)) {
      console.log(`${action}: ${await does[action](...words)}`);
    }
  } catch (error) {
    await page.screenshot({ path: picture });
    throw error;
  } finally {
    await chromiumProcess.close();
  }
}

drive().then(
  () => console.log("done"),
  (error) => {
    console.error(error);
    console.error(`what was seen is in ${picture}`);
    process.exit(1);
  },
);
