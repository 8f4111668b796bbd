import { canonicalJson } from "@gennai/protocol/canonical-json";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { type Endpoint, parseEndpoint, sameEndpoint } from "../endpoint.ts";
import { globMatcher } from "../glob-matcher.ts";
import type { HookCommand } from "../hooks/hook-config.ts";
import type { RuleFile } from "../rules/compile/rule-set.ts";
import type { ExportDestination } from "./export-schema.ts";
import { type Limit, type Limits, placeOf } from "./limits.ts";
import type { PolicyKeys } from "./policy-schema.ts";

/** A model, as settings name it. */
export interface NamedModel {
  readonly backend: string;
  readonly model: string;
  /** Where its server is reached; undefined: elsewhere, or nowhere. */
  readonly origin: string | undefined;
}

/** How an MCP server is started or reached. */
export type ServerStart =
  | { readonly command: readonly string[]; readonly environment: Readonly<Record<string, string>> }
  | { readonly url: string };

/** One sentence for people: who lays what down, where it stands, and whom to ask. */
function laidDown(limit: Limit, key: string, what: string): string {
  const questions = limit.contact === undefined ? "" : ` Questions: ${limit.contact}`;
  return `${limit.name} (${placeOf(limit, key)}) ${what}.${questions}`;
}

/** The first refusal of a limit, as a sentence; undefined if none refuses. */
function firstRefusal(
  limits: Limits,
  refuses: (limit: Limit) => readonly [key: string, what: string] | undefined | false,
): string | undefined {
  for (const limit of limits) {
    const refused = refuses(limit);
    if (refused) return laidDown(limit, ...refused);
  }
  return undefined;
}

/** Why a model may not be used. */
export function modelRefusal(limits: Limits, { backend, model, origin }: NamedModel): string | undefined {
  if (backend === "offline") return undefined;
  const name = `${backend}/${model}`;
  return firstRefusal(limits, ({ models }) => {
    const { allow, deny, base_urls: bases } = models ?? {};
    if (deny !== undefined && deny.length > 0 && globMatcher(deny, { nocase: true })(name)) {
      return ["models.deny", `does not permit the model ${name}`];
    }
    if (allow !== undefined && !(allow.length > 0 && globMatcher(allow, { noextglob: true })(name))) {
      return ["models.allow", `does not permit the model ${name}`];
    }
    if (bases === undefined || (origin !== undefined && bases.some((base) => new URL(base).origin === origin))) return;
    return ["models.base_urls", `does not permit the address ${origin ?? "of the editor's models"}`];
  });
}

/** Why an MCP server may not be started or called. */
export function serverRefusal(limits: Limits, start: ServerStart): string | undefined {
  return firstRefusal(limits, ({ mcp }) => {
    if (mcp?.deny?.some((one) => isServer(one, start, "begins"))) return ["mcp.deny", "does not permit this server"];
    if (mcp?.allow === undefined || mcp.allow.some((one) => isServer(one, start, "whole"))) return undefined;
    return ["mcp.allow", "does not permit this server"];
  });
}

type ListedServer = NonNullable<NonNullable<PolicyKeys["mcp"]>["allow"]>[number];

/** @param how how much of a command is listed: the first words of what is denied, all of what is allowed */
function isServer(listed: ListedServer, start: ServerStart, how: "begins" | "whole"): boolean {
  if ("url" in listed) return "url" in start && new URL(listed.url).origin === new URL(start.url).origin;
  if ("url" in start) return false;
  const { command, environment } = start;
  if (how === "begins") return listed.command.every((word, index) => word === command[index]);
  const isWhole = command.length === listed.command.length && listed.command.every((word, at) => word === command[at]);
  // The same words would start something else.
  return isWhole && !Object.keys(environment).some((name) => startsOther.test(name));
}

const startsOther =
  /^(?:PATH|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHON.*|RUBY.*|PERL5?.*|BASH_ENV|ENV|npm_config_.*)$/i;

/** Why a host may not be reached; `ask`: a person may let it through, this once. */
export function endpointRefusal(
  { network }: Pick<Limit, "network">,
  endpoint: Endpoint | undefined,
): "network.deny" | "network.allow" | "network.ask" | "ask" | undefined {
  if (network === undefined) return undefined;
  const { allow, deny = [], ask } = network;
  if (endpoint === undefined ? deny.length > 0 : deny.some((one) => covers(one, endpoint))) return "network.deny";
  if (endpoint !== undefined && allow?.some((one) => covers(one, endpoint)) === true) return undefined;
  if (ask === false) return "network.ask";
  return allow === undefined ? undefined : "ask";
}

/** @param listed `HOST:PORT`, or `*.HOST:PORT` for each host below it */
function covers(listed: string, endpoint: Endpoint): boolean {
  const below = listed.startsWith("*.");
  const known = parseEndpoint(below ? listed.slice(2) : listed);
  if (known === undefined) return false;
  return below
    ? known.port === endpoint.port && endpoint.host.endsWith(`.${known.host}`)
    : sameEndpoint(known, endpoint);
}

/** Why commands may not run in the workspace itself, or may not be asked about instead of being staged. */
export function unstagedRefusal(limits: Limits): string | undefined {
  return firstRefusal(limits, ({ require }) => {
    if (require?.sandbox === true) return ["require.sandbox", "requires the sandbox"];
    return require?.stages === true && ["require.stages", "requires staged commands"];
  });
}

/** Why intents cannot be switched to another mode than `required`. */
export function intentsRefusal(limits: Limits): string | undefined {
  return firstRefusal(limits, ({ require }) => require?.intents && ["require.intents", "requires intents"]);
}

/** Why nobody may say yes ahead. */
export function aheadRefusal(limits: Limits): string | undefined {
  return firstRefusal(
    limits,
    ({ answers }) =>
      answers?.unattended_yes === false && ["answers.unattended_yes", "wants a person to answer each question"],
  );
}

/** Why nobody may be asked, or answer, from elsewhere. What cannot be used may forbid it. */
export function remoteRefusal(limits: Limits): string | undefined {
  return firstRefusal(
    limits,
    ({ answers, problem }) =>
      (answers?.remote === false || problem !== undefined) && ["answers.remote", "permits no answers from elsewhere"],
  );
}

const scopes: readonly ConfirmationScope[] = ["once", "turn", "session", "workspace"];

/** How long a yes lasts at most; undefined: nothing is said. */
export function longestYes(limits: Limits): ConfirmationScope | undefined {
  return scopes.find((scope) => limits.some(({ answers }) => answers?.longest === scope));
}

/** Whether a yes may last so long. */
export function mayLast(scope: ConfirmationScope, longest: ConfirmationScope | undefined): boolean {
  return longest === undefined || scopes.indexOf(scope) <= scopes.indexOf(longest);
}

/** Globs of branches that no setting frees. */
export function managedBranches(limits: Limits): readonly string[] {
  return limits.flatMap(({ protected_branches: branches = [] }) => branches);
}

export function managedRules(limits: Limits): readonly RuleFile[] {
  return limits.flatMap(({ rules }) => rules ?? []);
}

/** Hooks that run besides those of users and projects, or why these do not run. */
export function managedHooks(limits: Limits): {
  readonly commands: readonly HookCommand[];
  readonly only: string | undefined;
} {
  return {
    commands: limits.flatMap(({ hooks }) => hooks?.commands ?? []),
    only: firstRefusal(limits, ({ hooks }) => hooks?.only === true && ["hooks.only", "lets no other hooks run"]),
  };
}

/** After how many days without use a session is purged at the latest, and by which policy; undefined: never. */
export function contentDays(limits: Limits): { readonly days: number; readonly by: string } | undefined {
  const wanted = limits.flatMap(({ retention, name }) =>
    retention?.content_days_most === undefined ? [] : [{ days: retention.content_days_most, by: name }],
  );
  return wanted.toSorted((one, other) => one.days - other.days)[0];
}

/** Where records are sent: what root says first, then other policies, and a user's own of other names. */
export function exportsOf(limits: Limits, own: readonly ExportDestination[]): readonly ExportDestination[] {
  const all = allExports(limits, own);
  return [...new Map(all.toReversed().map((each) => [each.name, each])).values()].toReversed();
}

/** Names of exports that stand for two destinations: only the first of each is sent to. */
export function doubledExports(limits: Limits, own: readonly ExportDestination[]): readonly string[] {
  const different = new Map(allExports(limits, own).map((each) => [canonicalJson(each), each.name]));
  const names = [...different.values()];
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function allExports(limits: Limits, own: readonly ExportDestination[]): readonly ExportDestination[] {
  const isRoot = ({ holder }: Limit): boolean => holder === "root";
  const ordered = [...limits.filter(isRoot), ...limits.filter((limit) => !isRoot(limit))];
  return [...ordered.flatMap(({ export: laid = [] }) => laid), ...own];
}

/** Why another agent may not be used unguarded. @param agent by the word of `gennai guard install` */
export function guardRefusal(limits: Limits, agent: string): string | undefined {
  return firstRefusal(
    limits,
    ({ require }) =>
      require?.guard?.some((one) => one === agent) && ["require.guard", `requires the guard of ${agent}`],
  );
}

/** Why this version is too old. @param version e.g. `1.4.0`, or `1.4.0-rc.1` */
export function versionProblem({ require, name }: Limit, version: string): string | undefined {
  if (require?.version === undefined) return undefined;
  const [wanted, own] = [require.version.slice(2), version.replace(/[-+].*$/, "")].map((text) =>
    text.split(".").map(Number),
  );
  const differs = (wanted ?? []).findIndex((part, index) => part !== own?.[index]);
  if (differs === -1 ? !version.includes("-") : (own?.[differs] ?? Number.NaN) > (wanted?.[differs] ?? 0))
    return undefined;
  return `${name} requires Gennai ${require.version}, and this is ${version}; install a newer one`;
}
