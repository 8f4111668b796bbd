import type { BackgroundStore } from "../control/session/background-store.ts";
import { Icon } from "../look/icon.tsx";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";

/** What runs in the background, each with a stop button; nothing if nothing runs. */
export function BackgroundStrip({ store }: { readonly store: BackgroundStore }) {
  const { running, problem } = store.state.value;
  return (
    <>
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {running.length > 0 && (
        <ul class="background-runs" aria-label="In the background">
          {running.map(({ id, command, ports }) => (
            <li key={id} class="background-run">
              <Icon name="pulse" />
              <span class="background-command">
                <span class="quiet">{id}</span> <VisibleText text={command} />
                {ports.map(({ port, localPort }) => (
                  <span key={localPort} class="quiet">
                    {" "}
                    port {port} is open as 127.0.0.1:{localPort}
                  </span>
                ))}
              </span>
              <button
                type="button"
                class="button button-quiet"
                aria-label={`Stop ${id}`}
                onClick={() => void store.stop(id)}
              >
                Stop
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
