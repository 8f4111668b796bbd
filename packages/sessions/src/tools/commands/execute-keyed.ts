import type { KeyPlan } from "@gennai/egress/keys/login/user-keys";
import type { Effect } from "@gennai/governance/effect";
import type { ExecutionContext, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { runStaged, type StagedSurroundings } from "@gennai/shell/run/run-staged";
import type { StagingKeys } from "./bash-tool.ts";
import { commandOutcome } from "./command-outcome.ts";
import type { EditContents } from "./edit-records.ts";
import { executeStaged } from "./execute-staged.ts";

/**
 * Runs git with the user's ssh keys, which the user agreed to for this one run. A hook that it would start runs before, without
 * network and keys, and its changes are dropped.
 */
export async function executeKeyed(
  effect: Effect & { readonly type: "exec" },
  { before, notes, uncover }: KeyPlan,
  timeoutMs: number,
  {
    keys,
    ...surroundings
  }: Omit<StagedSurroundings, "logins"> &
    EditContents & {
      readonly keys: Pick<StagingKeys, "addresses">;
      readonly keepsNothing?: string | undefined;
    },
  context: ExecutionContext,
): Promise<ToolOutcome> {
  if (before !== undefined) {
    const { command, cwd } = effect;
    const hook = { command, cwd: cwd.absolute, timeoutMs, confirmed: false, text: before.text };
    const staged = await runStaged(hook, surroundings, context);
    await staged.drop();
    if (staged.run.exitCode !== 0) {
      return commandOutcome(staged.run, timeoutMs, [
        `[that was ${before.what}, which runs first, without network and login; nothing was sent]`,
      ]);
    }
  }
  using key = await uncover();
  for (const { host, port, address } of key.hosts) {
    const own = address === undefined ? await surroundings.stages.privateAddress({ host, port }) : undefined;
    if (own === undefined) continue;
    keys.addresses.set(host, own);
    throw new ToolFailure(
      "private_address",
      `${host} is ${own}, in a private network of this machine, and the question did not name it.`,
      {
        failureClass: "permission_denied",
        hint: "Run the same command again; the question then names it.",
        retryable: true,
      },
    );
  }
  const outcome = await executeStaged(effect, timeoutMs, { ...surroundings, key, allowed: key.hosts }, context);
  return { ...outcome, output: [outcome.output, ...notes, ...key.notes()].join("\n") };
}
