import { render } from "preact";
import { App } from "./app.tsx";
import { ReplControl } from "./control/repl-control.ts";
import { connectPageHost } from "./hosts/page-host.ts";
import { connectWebviewHost, type WebviewApi } from "./hosts/webview-host.ts";
import { StartFailure } from "./shell/start-failure.tsx";

declare global {
  /** Only in a webview of an editor, and only once. */
  var acquireVsCodeApi: (() => WebviewApi) | undefined;
}

const root = document.getElementById("app") ?? document.body;

try {
  const host =
    globalThis.acquireVsCodeApi === undefined
      ? await connectPageHost()
      : await connectWebviewHost(globalThis.acquireVsCodeApi(), window);
  render(<App control={new ReplControl(host)} />, root);
} catch (error) {
  render(<StartFailure error={error} />, root);
}
