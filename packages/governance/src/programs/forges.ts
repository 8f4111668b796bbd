import type { Program } from "./program.ts";
import { signsIn } from "./shared-rows.ts";

/** Releases and runs on a forge. */
const deploys: Program["deploys"] = {
  anyOperand: /^(?:release|workflow|run|deployment)$/,
  unless: /^(?:list|ls|view|watch|download|status|verify|verify-asset)$/,
};

const asked = "api cache gist issue label pr project release repo ruleset run search secret status variable workflow";

const changes: Program["changes"] = {
  "issue create": "createIssue",
  "issue close": "closeIssue addComment",
  "issue reopen": "reopenIssue addComment",
  "issue comment": "addComment",
  "issue edit": "updateIssue addLabelsToLabelable removeLabelsFromLabelable",
  "issue delete": "deleteIssue",
  "issue pin": "pinIssue",
  "issue unpin": "unpinIssue",
  "issue lock": "lockLockable",
  "issue unlock": "unlockLockable",
  "pr create": "createPullRequest updatePullRequest requestReviews",
  "pr close": "closePullRequest addComment",
  "pr reopen": "reopenPullRequest addComment",
  "pr comment": "addComment",
  "pr edit": "updatePullRequest requestReviews addLabelsToLabelable removeLabelsFromLabelable",
  "pr merge": "mergePullRequest enablePullRequestAutoMerge disablePullRequestAutoMerge",
  "pr ready": "markPullRequestReadyForReview convertPullRequestToDraft",
  "pr review": "addPullRequestReview",
  "label create": "POST labels",
  "label edit": "PATCH labels/*",
  "label delete": "DELETE labels/*",
  "release create": "POST releases",
  "repo edit": "PATCH .",
  "run rerun": "POST actions/runs/*/rerun",
  "run cancel": "POST actions/runs/*/cancel",
  "workflow run": "POST actions/workflows/WORKFLOW/dispatches",
  "run delete": "DELETE actions/runs/*",
};

export const forges: readonly Program[] = [
  {
    names: "gh",
    logins: ["gh"],
    hosts: "api.github.com github.com",
    dangers: [signsIn],
    deploys,
    changes,
    verbs: {
      ...Object.fromEntries(asked.split(" ").map((noun) => [noun, { reaches: true, login: true } as const])),
      // These show or change the login itself, or start a browser.
      "auth browse": { reaches: true },
    },
  },
  { names: "glab", otherwise: {}, dangers: [signsIn], deploys },
  { names: "hub tea", deploys },
];
