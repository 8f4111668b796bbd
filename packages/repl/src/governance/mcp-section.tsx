import type { NamedMcpServer, NamedMcpServers } from "@gennai/client/governance/mcp-servers";
import { VisibleText } from "../look/visible-text.tsx";
import { ManagedLock, type ManagedPolicy } from "./managed-section.tsx";

export interface McpSectionProps extends NamedMcpServers {
  readonly busy: boolean;
  readonly login: { readonly name: string; readonly address: URL | undefined } | undefined;
  readonly managed: readonly ManagedPolicy[];
  readonly onAccept: (server: NamedMcpServer) => void;
  readonly onLogIn: (name: string) => void;
  /** Ends the login that waits. */
  readonly onStop: () => void;
}

/** Servers that offer tools to the model, what each starts, and a button to accept each. */
export function McpSection({ servers, problems, managed, ...rows }: McpSectionProps) {
  return (
    <section class="g-section" aria-labelledby="mcp-title">
      <h3 id="mcp-title">
        MCP servers <ManagedLock policies={managed} of="mcp" />
      </h3>
      {problems.map((problem) => (
        <VisibleText in="p" key={problem} class="g-notice g-notice-bad" text={problem} />
      ))}
      {servers.length === 0 ? (
        <p class="empty">None is named for this folder.</p>
      ) : (
        <ul class="mcp-servers">
          {servers.map((server) => (
            <li key={server.name}>
              <McpRow {...{ server, ...rows }} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const origins: Readonly<Record<string, string>> = {
  user: "named by your own file",
  project: "named by this folder's .mcp.json",
  editor: "named by your editor",
};

const states: Readonly<Record<NamedMcpServer["state"], string>> = {
  accepted: "starts with a turn that may use it",
  new: "does not start: nobody accepted it yet",
  changed: "does not start: it changed since it was accepted, or what it runs did",
};

type McpRowProps = Omit<McpSectionProps, "servers" | "problems" | "managed"> & { readonly server: NamedMcpServer };

function McpRow({ server, busy, onAccept, ...login }: McpRowProps) {
  const { name, origin, state, start, runs, digest } = server;
  return (
    <>
      <p class="mcp-head">
        <strong>{name}</strong> <span class="g-quiet">{origins[origin] ?? ""}</span>
        <br />
        <span class={state === "accepted" ? "g-quiet" : "tone-warn"}>{states[state]}</span>
      </p>
      {start.length > 0 && <VisibleText in="pre" class="mcp-start" text={start.join("\n")} />}
      {runs.length > 0 && (
        <ul class="g-chips" aria-label={`What ${name} runs of this folder`}>
          {runs.map((part) => (
            <li key={part.name}>
              <VisibleText text={part.name} /> <code>{shortened(part.content)}</code>
            </li>
          ))}
        </ul>
      )}
      {state !== "accepted" && digest !== "" && (
        <>
          <p class="g-quiet">
            It runs beside the model, with your rights and outside the sandbox. Each of its tools still asks before its
            first call.
          </p>
          <button
            type="button"
            class="button button-quiet"
            disabled={busy}
            aria-label={`Accept as it is now: ${name}`}
            onClick={() => onAccept(server)}
          >
            Accept as it is now
          </button>
        </>
      )}
      {server.login !== "none" && <Login {...{ server, ...login }} />}
    </>
  );
}

function Login({ server, login, onLogIn, onStop }: Omit<McpRowProps, "busy" | "onAccept">) {
  const { name, login: since } = server;
  if (login?.name === name)
    return (
      <p role="status">
        {login.address === undefined ? (
          "Asking where to log in…"
        ) : (
          <>
            <a href={login.address.href} target="_blank" rel="noopener noreferrer">
              Agree at {login.address.host}
            </a>
            , in a browser on the machine where the server of Gennai runs.
          </>
        )}{" "}
        <button type="button" class="button button-quiet" onClick={onStop}>
          Cancel
        </button>
      </p>
    );
  return (
    <p>
      {since instanceof Date && <span class="g-quiet">logged in since {since.toLocaleDateString()} </span>}
      <button type="button" class="button button-quiet" aria-label={`Log in: ${name}`} onClick={() => onLogIn(name)}>
        {since instanceof Date ? "Log in again" : "Log in"}
      </button>
    </p>
  );
}

/** The beginning of a digest; a script unchanged. */
function shortened(content: string): string {
  return /^[0-9a-f]{64}$/.test(content) ? content.slice(0, 12) : content;
}
