import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Effect } from "@gennai/governance/effect";
import type { ExecutionContext, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { KeyPlan } from "@gennai/machine/keys/login/user-keys";
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
  { keys, ...surroundings }: KeyedSurroundings,
  context: ExecutionContext,
): Promise<ToolOutcome> {
  // Other runs of the workspace share a temporary directory, and could change there what is packed and sent.
  const temporary = await mkdtemp(join(tmpdir(), "gennai-key-"));
  try {
    return await runInTwo(effect, plan, timeoutMs, { ...surroundings, keys, temporary }, context);
  } finally {
    await removeTree(temporary);
  }
}

async function runInTwo(
  effect: Effect & { readonly type: "exec" },
  plan: KeyPlan,
  timeoutMs: number,
  { keys, temporary, ...surroundings }: KeyedSurroundings & { readonly temporary: string },
  context: ExecutionContext,
): Promise<ToolOutcome> {
  if (plan.before !== undefined) {
    const { text, what } = plan.before;
    const { command, cwd } = effect;
    const before = { command, cwd: cwd.absolute, timeoutMs, confirmed: false, text, temporary };
    const staged = await runStaged(before, surroundings, context);
    await staged.drop();
    if (staged.run.exitCode !== 0) {
      return commandOutcome(staged.run, timeoutMs, [
        `[that was ${what}, which runs first, without network and login; nothing was sent]`,
      ]);
    }
  }
  const key = await plan.uncover(context);
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
  const outcome = await executeStaged(
    effect,
    timeoutMs,
    { ...surroundings, key, temporary, allowed: key.hosts },
    context,
  );
  return { ...outcome, output: [outcome.output, ...plan.notes].join("\n") };
}
