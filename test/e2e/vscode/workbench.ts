import { rm } from "node:fs/promises";
import { type Files, type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import type { FrameLocator, Page } from "playwright-core";
import { inject } from "vitest";
import { openContext } from "../browser/open-context.ts";
import { takeScreenshot } from "../browser/screenshot.ts";
import { type ServedGennai, type ServeOptions, serveGennai } from "../process/serve-gennai.ts";
import type { CodeServer } from "./code-server.ts";
import { pick, runCommand } from "./palette.ts";
import { type Settings, writeUserSettings } from "./user-settings.ts";
import { openWebview } from "./webview.ts";

export interface WorkbenchOptions {
  /** Absolute path of an extension's directory, loaded unpackaged; ours when left out, none with a server of one's own. */
  readonly extensionDevelopmentPath?: string;
  /** Absolute path of a CommonJS file whose `run()` the extension host runs; see `hostSuite`. */
  readonly extensionTestsPath?: string;
  /** The one that the project shares, when left out. */
  readonly server?: CodeServer;
  readonly settings?: Settings;
  readonly machineSettings?: Settings;
  /** What the workspace holds, committed on `main`. */
  readonly files?: Files;
  /** Serves this workspace, for extensions to find; without it no server runs. */
  readonly gennai?: Pick<ServeOptions, "script" | "args">;
  /** Called with the page before the workbench is in it. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** A window of VS Code on a git workspace of its own. */
export interface Workbench extends AsyncDisposable {
  readonly page: Page;
  readonly workspace: TemporaryRepository;
  /** Throws when none was asked for. */
  readonly gennai: ServedGennai;
  /** By its whole title in the palette. */
  runCommand(title: string): Promise<void>;
  /** Chooses from a quick pick, by the whole label. */
  pick(label: string): Promise<void>;
  /** Resolves when a notification says that. With the smoke test driver none pops up: the bell shows that there are some. */
  notice(text: string | RegExp): Promise<void>;
  /** The document inside a webview, by its title. */
  webview(title: string): Promise<FrameLocator>;
  /** Resolves when the workbench shows it. */
  useTheme(theme: Theme): Promise<void>;
  reload(): Promise<void>;
  /** Resolves with the picture's path. */
  screenshot(name: string): Promise<string>;
}

const themes = {
  light: { label: "Light Modern", style: ".vs" },
  dark: { label: "Dark Modern", style: ".vs-dark" },
  "high contrast": { label: "Dark High Contrast", style: ".hc-black" },
} as const;

export type Theme = keyof typeof themes;
export const everyTheme = Object.keys(themes) as readonly Theme[];

const bootTimeout = 60_000;

/** Resolves when the workbench is drawn; extensions are still starting then. */
export async function startWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  await using parts = new AsyncDisposableStack();
  const server = options.server ?? inject("codeServer");
  const workspace = parts.use(await temporaryRepository({ "README.md": "# Test\n", ...options.files }));
  await writeUserSettings(server, {
    settings: { "workbench.colorTheme": themes.dark.label, ...options.settings },
    machineSettings: options.machineSettings ?? {},
  });
  await rm(server.gennaiState, { recursive: true, force: true });
  const gennai =
    options.gennai &&
    parts.use(await serveGennai({ ...options.gennai, workspace, stateDirectory: server.gennaiState }));
  const { context } = parts.use(await openContext());
  const page = await context.newPage();
  await options.prepare?.(page);
  await page.goto(addressOf(server, workspace, options));
  const shown = (style = "") => page.locator(`.monaco-workbench${style} .statusbar`).waitFor({ timeout: bootTimeout });
  await shown();
  const owned = parts.move();
  return {
    page,
    workspace,
    get gennai() {
      if (gennai === undefined) throw new Error("This workbench was started without a server.");
      return gennai;
    },
    runCommand: (title) => runCommand(page, title),
    pick: (label) => pick(page, label),
    // What is read out to those who cannot see it. It stays, other than what pops up.
    notice: (text) => page.locator(".monaco-aria-container").getByText(text).first().waitFor({ state: "attached" }),
    webview: (title) => openWebview(page, title),
    async useTheme(theme) {
      await runCommand(page, "Preferences: Color Theme");
      await pick(page, themes[theme].label);
      await shown(themes[theme].style);
    },
    async reload() {
      await page.reload();
      await shown();
    },
    async screenshot(name) {
      // Where nothing shows a hover.
      await page.mouse.move(800, 740);
      return takeScreenshot(page, name);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function addressOf(server: CodeServer, workspace: TemporaryRepository, options: WorkbenchOptions): string {
  const { host } = new URL(server.url);
  const { extensionTestsPath } = options;
  const ours = options.server === undefined ? inject("extension") : undefined;
  const extensionDevelopmentPath = options.extensionDevelopmentPath ?? ours;
  const payload = Object.entries({ extensionDevelopmentPath, extensionTestsPath }).flatMap(([name, path]) =>
    path === undefined ? [] : [[name, `vscode-remote://${host}${path}`]],
  );
  const address = new URL(server.url);
  address.searchParams.set("folder", workspace.root);
  address.searchParams.set("payload", JSON.stringify(payload));
  return address.href;
}
