import { render } from "preact";
import { App } from "./app.tsx";
import { ReplControl } from "./control/repl-control.ts";
import { connectPageHome } from "./homes/page-home.ts";
import { connectWebviewHome, type WebviewApi } from "./homes/webview-home.ts";
import { StartFailure } from "./shell/start-failure.tsx";

declare global {
  /** Only in a webview of an editor, and only once. */
  var acquireVsCodeApi: (() => WebviewApi) | undefined;
}

const root = document.getElementById("app") ?? document.body;

try {
  const home =
    globalThis.acquireVsCodeApi === undefined
      ? await connectPageHome()
      : await connectWebviewHome(globalThis.acquireVsCodeApi(), window);
  render(<App control={new ReplControl(home)} />, root);
} catch (error) {
  render(<StartFailure error={error} />, root);
}
