import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Effect } from "@gennai/governance/effect";
import type { ExecutionContext, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { handedFile } from "@gennai/machine/keys/handed-file";
import type { KeyPlan, UncoveredKey } from "@gennai/machine/keys/login/user-keys";
import { removeTree } from "@gennai/machine/stage/files/remove-tree";
import { runStaged, type StagedSurroundings } from "@gennai/machine/staged-shell/run/run-staged";
import type { StagingKeys } from "./bash-tool.ts";
import { commandOutcome } from "./command-outcome.ts";
import type { EditContents } from "./edit-records.ts";
import { executeStaged } from "./execute-staged.ts";

type KeyedSurroundings = StagedSurroundings &
  EditContents & {
    readonly keys: Pick<StagingKeys, "learn" | "addresses">;
    readonly keepsNothing?: string | undefined;
  };

/**
 * Runs a command with a user's login, which the user agreed to for this one run. Workspace programs that it would start, such
 * as hooks, run before, without network and login, and their changes are dropped.
 */
export async function executeKeyed(
  effect: Effect & { readonly type: "exec" },
  plan: KeyPlan,
  timeoutMs: number,
  surroundings: KeyedSurroundings,
  context: ExecutionContext,
): Promise<ToolOutcome> {
  if (plan.before === undefined) return runWithLogin(effect, { ...plan, handed: [] }, timeoutMs, surroundings, context);
  const { text, what, handsOver } = plan.before;
  // Other runs of the workspace share a temporary directory, and could change there what is packed and sent.
  const temporary = await mkdtemp(join(tmpdir(), "gennai-key-"));
  try {
    const { command, cwd } = effect;
    const before = { command, cwd: cwd.absolute, timeoutMs, confirmed: false, text, temporary };
    const staged = await runStaged(before, surroundings, context);
    await staged.drop();
    if (staged.run.exitCode !== 0) {
      return commandOutcome(staged.run, timeoutMs, [
        `[that was ${what}, which runs first, without network and login; nothing was sent]`,
      ]);
    }
    const handed = handsOver && { path: handsOver.as, source: handedFile(temporary, handsOver.from) };
    const now = { ...plan, handed: handed === undefined ? [] : [handed] };
    return await runWithLogin(effect, now, timeoutMs, surroundings, context);
  } finally {
    await removeTree(temporary);
  }
}

async function runWithLogin(
  effect: Effect & { readonly type: "exec" },
  plan: KeyPlan & { readonly handed: UncoveredKey["mounts"] },
  timeoutMs: number,
  { keys, ...surroundings }: KeyedSurroundings,
  context: ExecutionContext,
): Promise<ToolOutcome> {
  const uncovered = await plan.uncover(context);
  const key = { ...uncovered, mounts: [...uncovered.mounts, ...plan.handed] };
  for (const { host, port, address } of key.hosts) {
    const own = address === undefined ? await surroundings.stages.privateAddress({ host, port }) : undefined;
    if (own === undefined) continue;
    keys.addresses.set(host, own);
    throw new ToolFailure("private_address", `${host} is ${own}, in a network of this machine: nobody was told so.`, {
      failureClass: "permission_denied",
      hint: "Run the same command again; the question says it then.",
      retryable: true,
    });
  }
  for (const secret of key.secrets) keys.learn(secret);
  const outcome = await executeStaged(effect, timeoutMs, { ...surroundings, key, allowed: key.hosts }, context);
  return { ...outcome, output: [outcome.output, ...plan.notes].join("\n") };
}
