import type { PersistentApprovals } from "@gennai/governance/gate/confirm/persistent-approvals";
import type { Policy } from "@gennai/governance/policy";
import { allow, ask } from "@gennai/governance/verdict";
import type { AcceptedChecks } from "../rules/workspace-answers.ts";

/** Commands defined by the repository, by the id of the call that runs them. */
export type RepositoryChecks = ReadonlyMap<string, { readonly command: string; readonly source: string }>;

/**
 * A command defined by the repository runs only if a user agrees, even if the same command from the model would run without a
 * question.
 */
export function createCheckPolicy(checks: RepositoryChecks): Policy {
  return {
    name: "project-check",
    kind: "guard",
    decide({ callId }) {
      const check = checks.get(callId);
      if (check === undefined) return allow;
      return ask({
        code: "check_needs_confirmation",
        rule: "project-check/repository-command",
        reason: `The check \`${check.command}\` comes from the repository (${check.source}).`,
      });
    },
  };
}

/** The accepted checks of this workspace, and the offer to accept one permanently. */
export function lastingCheckAnswers(checks: RepositoryChecks, accepted: AcceptedChecks): PersistentApprovals {
  return {
    offer({ callId }) {
      if (!checks.has(callId)) return undefined;
      return "A yes for this workspace holds until the command, its scripts or their files change. `gennai check revoke` revokes it.";
    },
    async find({ actionSha256 }, rules) {
      const found = await accepted.find(actionSha256);
      // A rule that did not ask then was not answered.
      return found !== undefined && rules.every((rule) => found.rules.includes(rule))
        ? { callId: found.callId }
        : undefined;
    },
    async remember({ actionSha256, callId }, rules) {
      const check = checks.get(callId);
      if (check !== undefined) await accepted.accept({ ...check, actionSha256, rules: [...rules], callId });
    },
  };
}
