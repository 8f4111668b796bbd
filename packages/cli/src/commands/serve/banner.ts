import { shellWords } from "@gennai/governance/command/shell-words";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { StagesUsed } from "@gennai/server/rpc/open-stages";
import type { Paint } from "../../terminal/colours.ts";

export interface BannerFacts {
  readonly version: string;
  readonly url: string;
  /** Link that opens the page once. */
  readonly link: string;
  /** Address for the RinaWarp extension; undefined if it is off. */
  readonly rinaUrl?: string | undefined;
  /** undefined: each user has a workspace of their own. */
  readonly workspace: string | undefined;
  readonly isSample: boolean;
  readonly encryption: "tls" | "proxy" | "none";
  readonly sandbox: { readonly state: "sandboxed" | "unsandboxed"; readonly reason: string };
  readonly stages: StagesUsed;
  readonly settings: SessionSettings;
  readonly token:
    | { readonly type: "none" }
    | { readonly type: "of-each-user"; readonly issuer: string }
    | {
        readonly type: "environment" | "file" | "random";
        /** The file that holds it. */
        readonly place: string;
        /** The token itself, when the user asked to see it. */
        readonly shown: string | undefined;
        readonly weak: boolean;
      };
  /** What the user types to run Gennai. */
  readonly command: string;
}

/** What the user sees when the server listens: its address, workspace and settings, and what to do next. */
export function serveBanner(facts: BannerFacts, paint: Paint): string {
  const { settings, workspace, command, token } = facts;
  const model = settings.model === "" ? settings.backend : `${settings.backend} / ${settings.model}`;
  const open =
    token.type === "none" || facts.link === facts.url ? "" : `  (works once, for 5 minutes; another: ${command} open)`;
  const lines = [
    ...(token.type === "of-each-user" ? [] : [`Open ${paint("bold", facts.link)}${open}`]),
    `${paint("bold", `Gennai ${facts.version}`)} is listening on ${facts.url}`,
    ...(workspace === undefined
      ? []
      : [
          row(
            "workspace",
            facts.isSample ? `${workspace}  (a fresh copy of the sample; your own: --workspace DIR)` : workspace,
          ),
        ]),
    row(
      "model",
      settings.backend === "offline"
        ? `${model}  (needs no key; another: --backend openai-compatible --base-url URL --model NAME)`
        : model,
    ),
    ...tokenRows(facts, paint),
    ...(facts.rinaUrl === undefined
      ? []
      : [row("rinawarp", `${facts.rinaUrl}  (takes no token: only your own programs, and high risk still asks here)`)]),
    commandsRow(facts, paint),
    ...(facts.encryption === "tls" ? [row("encryption", "TLS 1.2 or newer")] : []),
    ...(facts.encryption === "proxy"
      ? [paint("yellow", row("warning", "unencrypted here: let only your proxy reach this address"))]
      : []),
    ...(workspace === undefined
      ? []
      : [
          row(
            "terminal",
            `${command} run "replace colour with color in src/**/*.js" --workspace ${shellWords([workspace])}`,
          ),
        ]),
    "Stop with Ctrl-C.",
  ];
  return `${lines.join("\n")}\n`;
}

/** Where commands run, and what follows from it. */
function commandsRow({ sandbox, stages }: BannerFacts, paint: Paint): string {
  const bare = (why: string) =>
    paint("red", row("commands", `run WITHOUT a sandbox: ${why}; every command that is not known to only read asks`));
  if (sandbox.state === "unsandboxed") return bare(sandbox.reason);
  switch (stages.state) {
    case "staged":
      return row("commands", `run staged, in a sandbox: ${sandbox.reason}`);
    case "somewhere":
      return row("commands", `run staged where a workspace can be, in a sandbox: ${sandbox.reason}`);
    case "off":
      return bare("it was switched off");
    case "unavailable":
      return bare(stages.reason.replace(/\.$/, ""));
  }
}

function tokenRows(facts: BannerFacts, paint: Paint): readonly string[] {
  const { token } = facts;
  if (token.type === "none") {
    return [
      paint(
        "red",
        row("token", "NONE (--no-auth): every program on this machine can use this server and change your files"),
      ),
    ];
  }
  if (token.type === "of-each-user") {
    return [
      row("token", `each user's own, issued by ${token.issuer}`),
      row("page", `each user gets a link by: ${facts.command} open --server URL --auth-token-file FILE`),
      ...(facts.encryption === "none"
        ? [
            paint(
              "yellow",
              row("warning", "unencrypted: clients send no user's token here; give --tls-cert and --tls-key"),
            ),
          ]
        : []),
    ];
  }
  const place =
    token.type === "environment"
      ? "from GENNAI_AUTH_TOKEN"
      : token.type === "file"
        ? `from ${token.place}`
        : `in ${token.place}  (only you can read it; ${facts.command} run finds it)`;
  return [
    row("token", token.shown ?? place),
    ...(token.weak
      ? [paint("yellow", row("warning", "the token is short enough to be guessed; use 22 characters or more"))]
      : []),
  ];
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(11)}${text}`;
}
