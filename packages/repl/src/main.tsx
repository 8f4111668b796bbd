import { answerPath } from "@gennai/protocol/page-paths";
import { render } from "preact";
import { App } from "./app.tsx";
import { ReplControl } from "./control/repl-control.ts";
import { connectPageHost } from "./hosts/page-host.ts";
import { connectWebviewHost, type WebviewApi } from "./hosts/webview-host.ts";
import { CopyButton } from "./look/copy-button.tsx";
import { failureDetails, failureOf } from "./look/failure.ts";

declare global {
  /** Only in a webview of an editor, and only once. */
  var acquireVsCodeApi: (() => WebviewApi) | undefined;
}

const root = document.getElementById("app") ?? document.body;

try {
  if (globalThis.acquireVsCodeApi === undefined && location.pathname === answerPath) {
    const { AnswerPage } = await import("./confirmation/answer-page.tsx");
    render(<AnswerPage />, root);
  } else await start();
} catch (error) {
  render(<StartFailure error={error} />, root);
}

async function start(): Promise<void> {
  const host =
    globalThis.acquireVsCodeApi === undefined
      ? await connectPageHost()
      : await connectWebviewHost(globalThis.acquireVsCodeApi(), window);
  render(<App control={new ReplControl(host)} />, root);
}

/** Shown in place of the app if it has no host. */
function StartFailure({ error }: { readonly error: unknown }) {
  const failure = failureOf(error);
  return (
    <main>
      <div class="welcome" role="alert">
        <h1>Gennai could not start here</h1>
        <p>{failure.message}</p>
        {failure.hint !== "" && <p>{failure.hint}</p>}
        <p>
          <button type="button" class="button" onClick={() => location.reload()}>
            Try again
          </button>{" "}
          <CopyButton text={failureDetails(failure)} label="Copy details" look="link" />
        </p>
      </div>
    </main>
  );
}
