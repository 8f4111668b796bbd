import { isAbsolute, join, resolve as lexically } from "node:path";
import { analyseCommand } from "@gennai/governance/command/analyse-command";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { Effect, FileWrite, WorkspacePath } from "@gennai/governance/effect";
import type { Analysis, ExecutionContext, Tool, ToolOutcome, Verification } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { checkedUrl } from "@gennai/machine/web/fetch-page";
import type { WebConfig } from "@gennai/machine/web/web-config";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { sha256Hex } from "@gennai/protocol/digest";
import { argumentPaths } from "@gennai/sessions/mcp/argument-paths";
import { refuseHiddenBelow } from "@gennai/sessions/policy-workbench/hidden-below";
import { commandOperands } from "@gennai/sessions/tools/commands/command-operands";
import { pathName } from "@gennai/sessions/tools/path-name";
import { maxFileBytes } from "@gennai/sessions/tools/text-limits";
import { repositoryStartsNothing } from "@gennai/shell/run/reads-only";
import * as z from "zod";
import type { Kept } from "./guarded-changes.ts";
import { type HostCall, type HostCallEnd, settingsChange } from "./hosts/guarded-host.ts";

export interface GuardedToolPorts {
  readonly workspace: Workspace;
  readonly home: string;
  /** Working directory of the host: base of its relative paths. Absolute. */
  readonly directory: string;
  readonly loadWeb: () => Promise<WebConfig>;
  /** Globs of files that no search may reach. The host's own search does not know them. */
  readonly searchExcludes: readonly string[];
  /**
   * Lets the host continue with the call; resolves when it reports the end, or when no report is expected any more. Rejects
   * when the signal aborts.
   */
  run(context: ExecutionContext): Promise<HostCallEnd>;
  /** Keeps what the call may change, before it runs. Rejects with `ToolFailure`: then it must not run. */
  keep(effects: readonly Effect[], signal: AbortSignal): Promise<Kept>;
}

type Judged = Extract<HostCall, { readonly type: "judged" }>;
type Analyse = (args: unknown) => Promise<Analysis>;

const path = z.string().min(1).max(4096);
const text = z.string().max(maxFileBytes);
/** Further paths of the same call. */
const others = z.array(path).max(100).optional();
/** The input of a Write. */
const wholeText = z.object({ content: z.string() });

/**
 * The call of another agent as a tool for the gate: its effects are analysed as for our own, and running it means that the host
 * may continue. The written files are checked afterwards.
 */
export function guardedTool({ tool, server, readsOnly }: Judged, ports: GuardedToolPorts): Tool {
  const { parameters, analyse } = server === undefined ? ownKind(tool, ports) : externalKind(server, tool, ports);
  return {
    name: tool,
    description: "",
    parameters,
    access: readsOnly ? "read" : "change",
    runBy: "host",
    analyse,
    async execute(_args, { effects }, context) {
      const kept = await ports.keep(effects, context.signal);
      const end = await ports.run(context);
      return {
        output: "",
        ...(await kept()),
        ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
        ...(end.failed ? { failure: { failureClass: "command_error" as const, message: end.message } } : {}),
      };
    },
    async verify(args, outcome) {
      const namesFiles = server === undefined && tool !== "Bash";
      return verification(args, namesFiles ? outcome : { ...outcome, changes: [] });
    },
  };
}

/** The host's report is no evidence; the files' content is. */
function verification(args: unknown, { failure, changes = [] }: ToolOutcome): Verification {
  if (failure !== undefined) return { state: "failed", evidence: "The agent said that it failed." };
  const [change] = changes;
  const { content } = wholeText.safeParse(args).data ?? {};
  if (change === undefined) return { state: "unverified", evidence: "Only the agent says that it ran." };
  if (content === undefined) return { state: "verified", evidence: `${change.path} changed.` };
  return change.afterSha256 === sha256Hex(content)
    ? { state: "verified", evidence: `${change.path} holds the text that should be written.` }
    : { state: "unverified", evidence: `${change.path} does not hold the text that should be written.` };
}

function ownKind(tool: string, ports: GuardedToolPorts): { readonly parameters: z.ZodType; readonly analyse: Analyse } {
  const { workspace, directory, home } = ports;
  const resolve = (raw: string, from = directory): Promise<WorkspacePath> => resolved(raw, from, { workspace, home });
  const kind = <Shape extends z.ZodRawShape>(
    shape: Shape,
    analyse: (args: z.infer<z.ZodObject<Shape>>) => Promise<Analysis>,
  ) => {
    const parameters = z.strictObject(shape);
    return { parameters, analyse: (args: unknown) => analyse(parameters.parse(args)) };
  };
  const write = async (raw: string, content?: string): Promise<Analysis> => {
    const at = await resolve(raw);
    return { statement: `${tool} ${pathName(at)}`, effects: [await fileWrite(at, workspace, content)] };
  };

  switch (tool) {
    case "Bash":
      return kind(
        {
          command: z.string().min(1).max(100_000),
          description: z.string().max(10_000).optional(),
          run_in_background: z.boolean().optional(),
          dangerouslyDisableSandbox: z.boolean().optional(),
          cwd: path,
        },
        async ({ command: typed, cwd: from, description, run_in_background, dangerouslyDisableSandbox }) => {
          const cwd = await workspace.resolve(from);
          const analysis = analyseCommand(typed, { cwd: cwd.absolute, home, workspace: workspace.root });
          const startsGit = analysis.commands.some(({ name }) => name === "git");
          const readsOnly = analysis.readsOnly && (!startsGit || repositoryStartsNothing(cwd.absolute, home));
          const seen = { ...analysis, readsOnly };
          const command = dangerouslyDisableSandbox === true ? outOfItsSandbox(seen) : seen;
          const how = [
            ...(run_in_background === true ? [" in the background"] : []),
            ...(dangerouslyDisableSandbox === true ? [" without the agent's own sandbox"] : []),
          ];
          return {
            statement: `Run \`${typed}\`${how.join("")}`,
            // It is not staged, and runs outside our sandbox.
            effects: [{ type: "exec", command, cwd, where: "server" }],
            ...(command.readsOnly ? {} : { operands: await commandOperands(workspace, command, undefined) }),
            ...(description === undefined ? {} : { claim: description }),
          };
        },
      );
    case "Read":
      return kind({ file_path: path, or: others }, async ({ file_path, or = [] }) => {
        const at = await resolve(file_path);
        const more = await Promise.all(or.map((other) => resolve(other)));
        return {
          statement: `Read ${pathName(at)}`,
          effects: [at, ...more].map((each): Effect => ({ type: "read", path: each })),
        };
      });
    case "LS":
      return kind({ path: path.optional() }, async ({ path: given = "." }) => {
        const at = await resolve(given);
        return { statement: `List ${pathName(at)}`, effects: [{ type: "list", path: at }] };
      });
    case "Glob":
      return kind(
        { pattern: z.string().min(1).max(4096), path: path.optional(), or: others },
        async ({ pattern, path: given = ".", or = [] }) => {
          // A pattern may begin with its own directory, also outside the workspace.
          const base = /^[^*?[{]*\//.exec(pattern)?.[0];
          const starts = await Promise.all([given, ...or].map((each) => resolve(each)));
          const places = await Promise.all(
            starts.map(async (start) => (base === undefined ? start : resolve(base, start.absolute))),
          );
          const glob = pattern.slice(base?.length ?? 0);
          return {
            statement: `Find ${pattern} in ${places.map(pathName).join(", ")}`,
            effects: places.map((at): Effect => ({ type: "list", path: at, ...(glob === "" ? {} : { glob }) })),
          };
        },
      );
    case "Grep":
      return kind(
        { pattern: z.string().min(1), path: path.optional(), or: others, glob: z.string().min(1).max(4096).optional() },
        async ({ pattern, path: given = ".", or = [], glob }) => {
          const places = await Promise.all([given, ...or].map((each) => resolve(each)));
          const globs = glob === undefined ? [] : globsIn(glob);
          for (const at of places) await refuseHiddenBelow(at, globs, ports);
          const effects = places.flatMap((at): readonly Effect[] =>
            globs.length === 0
              ? [{ type: "search", path: at }]
              : globs.map((each) => ({ type: "search", path: at, glob: each })),
          );
          return { statement: `Search ${places.map(pathName).join(", ")} for ${pattern}`, effects };
        },
      );
    case "Write":
      return kind({ file_path: path, content: text }, ({ file_path, content }) => write(file_path, content));
    case "Edit":
      return kind(
        {
          file_path: path,
          old_string: text,
          new_string: text,
          replace_all: z.boolean().optional(),
          mustExist: z.boolean().optional(),
        },
        async ({ file_path, new_string, mustExist = false }) => {
          const at = await resolve(file_path);
          if (mustExist && at.inside && (await workspace.stat(at)) === undefined) {
            throw new ToolFailure("not_found", `${pathName(at)} is not there.`, {
              hint: "Name the file by its absolute path.",
            });
          }
          return write(file_path, new_string);
        },
      );
    case "MultiEdit":
      return kind(
        { file_path: path, edits: z.array(z.looseObject({ old_string: text, new_string: text })).max(10_000) },
        ({ file_path, edits }) => write(file_path, edits.map(({ new_string }) => new_string).join("\n")),
      );
    case "Patch":
      return kind(
        {
          files: z
            .array(z.strictObject({ path, operation: z.enum(["write", "delete"]), content: text }))
            .min(1)
            .max(1000),
        },
        async ({ files }) => {
          const writes = await Promise.all(
            files.map(async ({ path: raw, operation, content }): Promise<FileWrite> => {
              const at = await resolve(raw);
              if (operation === "write") return fileWrite(at, workspace, content);
              return { ...(await fileWrite(at, workspace, undefined)), operation };
            }),
          );
          return { statement: `Patch ${writes.map((each) => pathName(each.path)).join(", ")}`, effects: writes };
        },
      );
    case "NotebookEdit":
      return kind(
        {
          notebook_path: path,
          new_source: text.optional(),
          cell_id: z.string().optional(),
          cell_type: z.string().optional(),
          edit_mode: z.string().optional(),
        },
        ({ notebook_path, new_source }) => write(notebook_path, new_source),
      );
    case settingsChange:
      return kind({ path }, async ({ path: raw }) => {
        throw new ToolFailure(
          "control_file",
          `${raw} changed while the agent runs. The change is kept out of this session.`,
          {
            hint: "It counts from the agent's next session on.",
          },
        );
      });
    case "WebFetch":
      return kind({ url: z.string().min(1).max(2000), prompt: z.string().optional() }, async ({ url }) => {
        const listed = checkedUrl(url, await ports.loadWeb());
        return { statement: `Fetch ${listed.href}`, effects: [{ type: "net", url: listed.href, listed: true }] };
      });
    case "WebSearch":
      return kind(
        {
          query: z.string().min(1),
          allowed_domains: z.array(z.string()).optional(),
          blocked_domains: z.array(z.string()).optional(),
        },
        async ({ query }) => ({
          statement: `Search the web for ${query}`,
          effects: [{ type: "net", url: "the agent's own search of the web" }],
        }),
      );
    default:
      throw new Error(`There is no guarded tool ${tool}.`);
  }
}

/** Only the name and input of such a tool are known: it always asks, and cannot be accepted permanently. */
function externalKind(server: string, tool: string, ports: GuardedToolPorts) {
  const parameters = z.record(z.string(), z.unknown());
  const analyse: Analyse = async (args) => {
    const paths = await argumentPaths(args, { ...ports, cwd: ports.directory });
    const effect: Effect = {
      type: "external",
      server,
      tool,
      definition: sha256Hex(`${server} ${tool}`),
      accepted: "new",
      trusted: false,
      readsOnly: false,
      paths,
    };
    return { statement: `Call ${tool} of ${server}`, effects: [effect] };
  };
  return { parameters, analyse };
}

/** Asks even for a read-only command: the user relies on the agent's sandbox. */
function outOfItsSandbox(command: CommandAnalysis): CommandAnalysis {
  const reason = "This command is to run without the agent's own sandbox.";
  return { ...command, dangers: [...command.dangers, { rule: "guard/sandbox-off", verdict: "ask", reason }] };
}

/** One argument may contain several globs, separated by spaces, or by commas if there are no braces. */
function globsIn(given: string): readonly string[] {
  const words = given.split(/\s+/).flatMap((word) => (word.includes("{") ? [word] : word.split(",")));
  return words.filter((word) => word !== "");
}

/**
 * Resolves a path in two ways: for a host that trims it and removes `..` textually before following links, and for one that
 * does not. Throws `ToolFailure` if the two differ, because it is unknown which the host uses.
 */
async function resolved(
  raw: string,
  from: string,
  { workspace, home }: { readonly workspace: Workspace; readonly home: string },
): Promise<WorkspacePath> {
  const trimmed = fromHost(raw.trim(), from, home);
  const readings = new Set([trimmed, fromHost(raw, from, home), lexically(trimmed)]);
  const [first, ...others] = await Promise.all([...readings].map((reading) => workspace.resolve(reading)));
  if (first === undefined || others.some(({ absolute }) => absolute !== first.absolute)) {
    throw new ToolFailure("bad_path", `${JSON.stringify(raw.slice(0, 200))} can mean more than one place.`, {
      hint: "Write the path plainly: absolute, without `..` and without spaces around it.",
    });
  }
  return first;
}

function fromHost(raw: string, directory: string, home: string): string {
  if (raw === "~" || raw.startsWith("~/")) return join(home, raw.slice(1));
  // An absolute path is not normalised: `..` after a link leads elsewhere than in the text.
  return isAbsolute(raw) ? raw : `${directory}/${raw}`;
}

/** The host tracks itself what it has read, so the current content is the base. Files outside the workspace are not read. */
async function fileWrite(at: WorkspacePath, workspace: Workspace, content: string | undefined): Promise<FileWrite> {
  const current = at.inside ? await contentOf(at, workspace) : undefined;
  return {
    type: "write",
    operation: current === undefined ? "create" : "update",
    path: at,
    base: current === undefined ? undefined : { source: "disk", sha256: current },
    current,
    ...(content === undefined ? {} : { content }),
  };
}

async function contentOf(at: WorkspacePath, workspace: Workspace): Promise<string | undefined> {
  const stat = await workspace.stat(at);
  if (stat === undefined) return undefined;
  if (stat.kind !== "file") throw new ToolFailure("not_a_file", `${pathName(at)} is not a regular file.`);
  return (await workspace.read(at, { maxBytes: maxFileBytes })).sha256;
}
