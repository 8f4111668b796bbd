import type { ConfirmationQuestion, ConfirmationReply, RequestOptions } from "@gennai/client/connection/editor";
import { getWorkspaceState, prepareBranch } from "@gennai/client/session/workspace-state";
import { branchNameFor } from "@gennai/protocol/branch-name";
import { plural } from "@gennai/protocol/plural";
import type { FollowedSession } from "./followed-session.ts";

interface Task {
  /** What the user asked for; names the branch. */
  readonly task: string;
  /** Asks the person by a card, like a question of the gate. */
  readonly confirm: (question: ConfirmationQuestion, options: RequestOptions) => Promise<ConfirmationReply>;
  readonly signal: AbortSignal;
}

/**
 * The branch of a plan, which is bound to the one it is approved on: it is asked about before, where nothing can be approved on the
 * present one. After a no the plan is only there to be read. Rejects with `ConnectError` if no branch can be made.
 */
export async function planBranch(followed: FollowedSession, { task, confirm, signal }: Task): Promise<void> {
  const { client, sessionId } = followed.session;
  if (followed.settings.value.editingMode !== "branch") return;
  const { git, branch, protectedBy, changedFiles } = await getWorkspaceState(client, { sessionId, signal });
  if (git === "ready" && branch !== undefined && protectedBy === undefined) return;
  const where = branch === undefined ? "HEAD is on no branch" : `Branch ${branch} is protected`;
  const question = {
    requestId: crypto.randomUUID(),
    callId: "",
    title: "Write a plan?",
    intentReflection: "",
    actionStatement: "Write a plan that can be approved",
    impactStatement: changedFiles > 0 ? `${plural(changedFiles, "file")} not committed will come along.` : "",
    modelClaim: "",
    computed: {
      risk: "low",
      paths: [],
      rule: "branch/protected-branch",
      reason: `${where}. A yes begins the branch ${branchNameFor(task)}, and everything goes on there.`,
      policySha256: "",
    },
    actionJson: "{}",
    actionSha256: "",
    rememberStatement: "",
    offeredScopes: ["once"],
    deadline: undefined,
  } as const satisfies ConfirmationQuestion;
  // Where git is not ready, the server says best what to do.
  const reply = git === "ready" ? await confirm(question, { signal }) : { answer: "yes" };
  if (reply.answer === "yes") await prepareBranch(client, { sessionId, task, signal });
}
