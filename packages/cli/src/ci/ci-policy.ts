import { constants, existsSync } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { type ScopeGlob, scopeGlob } from "@gennai/governance/intents/scope-glob";
import { parseStrictYaml, YamlError } from "@gennai/machine/config/strict-yaml";
import { isWithin } from "@gennai/protocol/is-within";
import { isAtLeast, riskWords } from "@gennai/protocol/model/governance/risk";
import * as z from "zod";
import { usageError } from "../terminal/cli-error.ts";

const scope = z.string().transform((entry, context): ScopeGlob => {
  const result = scopeGlob(entry);
  if (result.ok && !result.glob.excludes) return result.glob;
  context.addIssue(result.ok ? "an exclusion allows nothing" : result.problem);
  return z.NEVER;
});

const ciPolicySchema = z.strictObject({
  version: z.literal(1),
  allow: z
    .array(
      z
        .strictObject({
          rule: z.string().min(1),
          command: z.string().min(1).optional(),
          /** Directory in which the command starts, inside the workspace; absent: the workspace itself. */
          cwd: z.string().min(1).optional(),
          paths: z.array(scope).min(1).optional(),
          risk: z.enum(riskWords.words).default("medium"),
        })
        .refine(({ command, cwd }) => command !== undefined || cwd === undefined, "names a cwd without a command"),
    )
    .max(1_000),
});

/** Questions of rules that are answered yes in a pipeline. */
export type CiPolicy = z.infer<typeof ciPolicySchema>;

/** Answers no question. */
export const allowNothing: CiPolicy = { version: 1, allow: [] };

const maxBytes = 1024 * 1024;

/**
 * Reads the file of `--ci-policy`. It must not be in the workspace, nor in the repository around it: otherwise a proposed
 * change, even by a stranger, could allow itself. Throws `CliError`.
 *
 * @param workspace real path
 */
export async function readCiPolicy(file: string, place: { directory: string; workspace: string }): Promise<CiPolicy> {
  const named = resolve(place.directory, file);
  let text: string;
  try {
    const real = await realpath(named);
    if (isWithin(real, { directory: repositoryAround(place.workspace) })) throw inWorkspace(file);
    await using handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) throw usageError(`${file} is not a regular file.`, "Write the policy into a file first.");
    if (stat.size > maxBytes) throw usageError(`${file} is larger than ${maxBytes} bytes.`, "Write a shorter policy.");
    text = await handle.readFile("utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "string" && /^E[A-Z]+$/.test(error.code))
      throw usageError(`The policy ${file} cannot be read (${error.code}).`, "Name a file outside of the workspace.");
    throw error;
  }
  return parseCiPolicy(text, file);
}

/** Parses the text of such a file. Throws `CliError` if it is not a policy. */
export function parseCiPolicy(text: string, file: string): CiPolicy {
  try {
    return ciPolicySchema.parse(parseStrictYaml(text, file).data);
  } catch (error) {
    const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
    if (issue !== undefined) throw usageError(`${file}: ${issue.path.join(".")} ${issue.message}`.trim(), shape);
    if (error instanceof YamlError) throw usageError(error.message, shape);
    throw error;
  }
}

const shape = "It needs version: 1 and a list allow. Each entry has a rule; command, paths and risk are optional.";

function inWorkspace(file: string): Error {
  return usageError(
    `The policy ${file} lies in the workspace or its repository, where a change could allow itself.`,
    'Take it of a branch that you trust: git show origin/main:ci-policy.yaml > "$RUNNER_TEMP/policy.yaml"',
  );
}

/**
 * Answers in a person's place: yes for once if one entry names the rule, and covers risk, the exact command and every path.
 *
 * @param workspace real path
 */
export function answerByCiPolicy(
  { allow }: CiPolicy,
  { computed, actionJson }: Pick<ConfirmationQuestion, "computed" | "actionJson">,
  workspace: string,
): ConfirmationReply {
  const isAllowed = allow.some(
    ({ rule, command, cwd = ".", paths: globs, risk }) =>
      rule === computed.rule &&
      isAtLeast(risk, computed.risk) &&
      (command === undefined || isCommand({ command, cwd }, actionJson, workspace)) &&
      (globs === undefined || covers(globs, computed.paths, workspace)),
  );
  if (isAllowed) return { answer: "yes", scope: "once" };
  return {
    answer: "nobody",
    reason: `Nobody is asked in a pipeline, and its policy does not allow this (rule ${computed.rule}).`,
  };
}

/** False without any path: an entry with paths is about paths. */
function covers(globs: readonly ScopeGlob[], named: readonly string[], workspace: string): boolean {
  return (
    named.length > 0 &&
    named.every((path) => {
      const inside = relativeTo(workspace, path);
      return inside !== undefined && globs.some((glob) => glob.matches(inside.split("/")));
    })
  );
}

/** Relative path with slashes; undefined if the path is not below the workspace. */
export function relativeTo(workspace: string, path: string): string | undefined {
  const full = resolve(workspace, path);
  return isWithin(full, { directory: workspace }) && full !== workspace
    ? relative(workspace, full).replaceAll(sep, "/")
    : undefined;
}

/** The directory counts as well: what `npm test` does depends on where it starts. */
function isCommand(allowed: { readonly command: string; readonly cwd: string }, actionJson: string, workspace: string) {
  const { data } = commandAction.safeParse(JSON.parse(actionJson));
  if (data === undefined) return false;
  const { command, cwd = "." } = data.arguments;
  return command === allowed.command && resolve(workspace, cwd) === resolve(workspace, allowed.cwd);
}

const commandAction = z.object({ arguments: z.object({ command: z.string(), cwd: z.string().optional() }) });

/** The root of the repository around the directory; outside of a repository, the directory itself. */
function repositoryAround(directory: string): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return directory;
  }
}
