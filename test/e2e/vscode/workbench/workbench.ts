import { type Files, type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import type { FrameLocator, Page } from "playwright-core";
import { inject } from "vitest";
import { openContext } from "../../browser/page/open-context.ts";
import { keepScreenshot, takeScreenshot } from "../../browser/page/screenshot.ts";
import { type ServedGennai, type ServeOptions, serveGennai } from "../../process/serve-gennai.ts";
import { type CodeServer, type CodeServerOptions, startCodeServer } from "./code-server/code-server.ts";
import { type Settings, writeUserSettings } from "./code-server/user-settings.ts";
import { waitForNotification } from "./notification-center.ts";
import { pick, runCommand } from "./palette.ts";
import { patience } from "./patience.ts";
import { openWebview } from "./webview.ts";

/** Our extension is installed unless others are named. */
export interface WorkbenchOptions extends CodeServerOptions {
  /** Absolute path of a CommonJS file whose `run()` the extension host runs; see `hostSuite`. */
  readonly extensionTestsPath?: string;
  /** Absolute path of the extension that such a file is run with, unpacked; otherwise ours. */
  readonly extensionDevelopmentPath?: string;
  readonly settings?: Settings;
  readonly machineSettings?: Settings;
  /** Opened instead of a workspace of its own, and left where it is. */
  readonly workspace?: TemporaryRepository;
  /** What the workspace holds, committed on `main`. */
  readonly files?: Files;
  /** Serves this workspace, for extensions to find; without it no server runs. */
  readonly gennai?: Pick<ServeOptions, "script" | "args" | "prices">;
  /** Called with the page before the workbench is in it. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** A window of VS Code, with a server, user data and a git workspace of its own. */
export interface Workbench extends AsyncDisposable {
  readonly page: Page;
  readonly server: CodeServer;
  readonly workspace: TemporaryRepository;
  /** Throws when none was asked for. */
  readonly gennai: ServedGennai;
  /** By its whole title in the palette. */
  runCommand(title: string): Promise<void>;
  /** Chooses from a quick pick, by the whole label. */
  pick(label: string): Promise<void>;
  /** Resolves when a notification says that. They are looked for where all are kept. */
  notice(text: string | RegExp): Promise<void>;
  /** The document inside a webview, by its title. */
  webview(title: string): Promise<FrameLocator>;
  /** Resolves when the workbench and its webviews show it. */
  useTheme(theme: Theme): Promise<void>;
  reload(): Promise<void>;
  /** A further window of the same server on what an address names: `folder`, `workspace`, or `ew` for nothing. */
  another(what: Readonly<Record<string, string>>): Promise<Page>;
  /** Takes a picture, for people who want pictures of all tests. */
  screenshot(name: string): Promise<void>;
  /** For people: takes a picture, and resolves with its path and what all processes wrote last. */
  report(name: string): Promise<string>;
}

/** As the palette, the settings and the workbench's own class call them. */
const themes = {
  light: { label: "Light Modern", id: "Light Modern", file: "light_modern-json" },
  dark: { label: "Dark Modern", id: "Dark Modern", file: "dark_modern-json" },
  "dark high contrast": { label: "Dark High Contrast", id: "Default High Contrast", file: "hc_black-json" },
  "light high contrast": { label: "Light High Contrast", id: "Default High Contrast Light", file: "hc_light-json" },
  solarized: { label: "Solarized Light", id: "Solarized Light", file: "solarized-light-color-theme-json" },
} as const;

export type Theme = keyof typeof themes;
export const everyTheme = Object.keys(themes) as readonly Theme[];

/** Where pictures are made, a window is light or dark as its browser is: they are taken of both, and nothing else changes. */
const picturedSettings: Settings =
  process.env["GENNAI_PICTURES"] === undefined
    ? {}
    : {
        "window.autoDetectColorScheme": true,
        "workbench.preferredLightColorTheme": themes.light.id,
        "workbench.preferredDarkColorTheme": themes.dark.id,
      };

/** Resolves when the workbench is drawn and knows its extensions' commands. */
export async function startWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startCodeServer(inject("codeServerProgram"), serverOptions(options)));
  const workspace =
    options.workspace ?? parts.use(await temporaryRepository({ "README.md": "# Test\n", ...options.files }));
  await writeUserSettings(server, {
    settings: { "workbench.colorTheme": themes.dark.id, ...picturedSettings, ...options.settings },
    machineSettings: options.machineSettings ?? {},
  });
  const gennai =
    options.gennai &&
    parts.use(await serveGennai({ ...options.gennai, workspace, stateDirectory: server.gennaiState }));
  const { context } = parts.use(await openContext());
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const report = async (name: string) => {
    const windows = page.context().pages();
    const pictures = await Promise.all(
      windows.map((one, index) =>
        keepScreenshot(one, index === 0 ? name : `${name} window ${index + 1}`).catch(String),
      ),
    );
    const ofGennai = gennai === undefined ? [] : [`--- gennai, its end:\n${gennai.output.slice(-2000)}`];
    return [`Pictures: ${pictures.join(", ")}`, await server.report(), ...ofGennai].join("\n");
  };
  await options.prepare?.(page);
  try {
    await page.goto(addressOf(server, { folder: workspace.root }, options));
    await isDrawn(page);
  } catch (cause) {
    throw new Error(`The workbench did not appear.\n${await report("no workbench")}`, { cause });
  }
  const owned = parts.move();
  return {
    page,
    server,
    workspace,
    report,
    get gennai() {
      if (gennai === undefined) throw new Error("This workbench was started without a server.");
      return gennai;
    },
    runCommand: (title) => runCommand(page, title),
    pick: (label) => pick(page, label),
    notice: (text) => waitForNotification(page, text),
    webview: (title) => openWebview(page, title),
    async useTheme(theme) {
      await runCommand(page, "Preferences: Color Theme");
      await pick(page, themes[theme].label);
      await showsTheme(page, theme);
    },
    async reload() {
      await page.reload();
      await isDrawn(page);
    },
    async another(what) {
      const window = await context.newPage();
      await window.goto(addressOf(server, what));
      await isDrawn(window);
      return window;
    },
    async screenshot(name) {
      // Where nothing shows a hover.
      await page.mouse.move(25, 560);
      return takeScreenshot(page, name);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Resolves when a workbench and its webviews show it. */
export async function showsTheme(page: Page, theme: Theme): Promise<void> {
  const { id, file } = themes[theme];
  await page.locator(`.monaco-workbench[class*="${file}"]`).waitFor();
  for (const webview of await page.locator("iframe.webview.ready").all()) {
    const inside = webview.contentFrame().frameLocator("iframe#active-frame");
    // One behind another tab is told as well.
    await inside.locator(`[data-vscode-theme-id="${id}"]`).waitFor({ state: "attached" });
  }
}

/** A suite that runs in the extension host is loaded with our extension, from where it lies. */
function serverOptions({ extensions, vsix, extensionTestsPath, builtIn }: WorkbenchOptions): CodeServerOptions {
  const ours = vsix === undefined && extensionTestsPath === undefined ? [inject("extension")] : [];
  return { extensions: extensions ?? ours, vsix, builtIn };
}

/** Before VS Code has read what extensions contribute, the palette has no commands of theirs. */
async function isDrawn(page: Page): Promise<void> {
  await page.locator(".monaco-workbench .statusbar").waitFor({ timeout: patience });
  await page.waitForFunction(() => performance.getEntriesByName("code/didLoadExtensions").length > 0);
}

function addressOf(
  { url }: CodeServer,
  what: Readonly<Record<string, string>>,
  { extensionTestsPath, extensionDevelopmentPath = inject("extension") }: WorkbenchOptions = {},
): string {
  const address = new URL(url);
  for (const [name, value] of Object.entries(what)) address.searchParams.set(name, value);
  if (extensionTestsPath !== undefined) {
    const payload = Object.entries({ extensionDevelopmentPath, extensionTestsPath });
    const remote = payload.map(([name, path]) => [name, `vscode-remote://${address.host}${path}`]);
    address.searchParams.set("payload", JSON.stringify(remote));
  }
  return address.href;
}
