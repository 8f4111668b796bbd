import { knownPrograms } from "@gennai/governance/programs/known-programs";
import { expect, test } from "vitest";
import { expectedGh } from "#keys/requests/gh-expected";

const api = { root: "/", graphql: "/graphql", repositories: ["me/r"], usualBranch: "main" };
const dispatch = 'POST /repos/me/r/actions/workflows/5/dispatches about "CI" (.github/workflows/ci.yml)';
const changes = knownPrograms.find(({ names }) => names === "gh")?.changes ?? {};
const expected = (...words: readonly string[]) => expectedGh(words, changes, api);
/** As it is asked about. */
const mutation = (name: string, about: string, input: object) =>
  `${name}(input: $input)${about} with ${JSON.stringify({ input })}`;
const repository = " about Repository me/r";
const issue = " about Issue 7 of me/r";

test.each<[words: readonly string[], sent: readonly string[]]>([
  [
    ["issue", "create", "--title", "T", "--body", "a\nb"],
    [mutation("createIssue", repository, { body: "a\nb", repositoryId: "R", title: "T" })],
  ],
  [
    ["issue", "close", "7", "--comment=done"],
    [mutation("addComment", issue, { subjectId: "I", body: "done" }), mutation("closeIssue", issue, { issueId: "I" })],
  ],
  [
    ["issue", "edit", "7", "--add-label", "bug,x"],
    [mutation("addLabelsToLabelable", `${issue}, Label "bug" of me/r`, { labelableId: "I", labelIds: ["L"] })],
  ],
  [
    ["pr", "create", "-t", "T", "-b", "B"],
    [
      mutation("createPullRequest", repository, {
        baseRefName: "main",
        body: "B",
        draft: false,
        headRefName: "x",
        repositoryId: "R",
        title: "T",
      }),
    ],
  ],
  [
    ["pr", "review", "7", "--approve"],
    [
      mutation("addPullRequestReview", " about PullRequest 7 of me/r", {
        pullRequestId: "P",
        body: "",
        event: "APPROVE",
      }),
    ],
  ],
  [["label", "delete", "bug", "--yes"], ["DELETE /repos/me/r/labels/bug"]],
  [
    ["release", "create", "v2", "-n", "N"],
    ['POST /repos/me/r/releases with {"body":"N","draft":false,"tag_name":"v2"}'],
  ],
  [["workflow", "run", "ci.yml", "-f", "level=2"], [`${dispatch} with {"inputs":{"level":"2"},"ref":"main"}`]],
  [["workflow", "run", "CI", "--ref", "x"], [`${dispatch} with {"ref":"x"}`]],
  [["run", "rerun", "12"], ["POST /repos/me/r/actions/runs/12/rerun"]],
  [["repo", "edit", "--description", "D"], ['PATCH /repos/me/r with {"description":"D"}']],
])("gh %j: what its words say, each once", (words, sent) => {
  const change = expected(...words);
  expect(change?.what).toContain(`gh ${words[0]} ${words[1]}`);
  for (const what of sent) expect(change?.covers(what), what).toBe(true);
  for (const what of sent) expect(change?.covers(what), what).toBe(false);
});

test.each<[words: readonly string[], sent: string]>([
  [["issue", "close", "7"], mutation("closeIssue", " about Issue 8 of me/r", { issueId: "I" })],
  [["issue", "close", "7"], mutation("closeIssue", " about Issue 7 of me/other", { issueId: "I" })],
  [["issue", "close", "7"], mutation("closeIssue", "", { issueId: "I" })],
  [["issue", "close", "7"], mutation("closeIssue", issue, { issueId: "I", duplicateIssueId: "J" })],
  [["issue", "close", "7"], mutation("deleteIssue", issue, { issueId: "I" })],
  [
    ["issue", "create", "-t", "T", "-b", "B"],
    mutation("createIssue", repository, { body: "another", repositoryId: "R", title: "T" }),
  ],
  [["pr", "merge", "--squash"], mutation("mergePullRequest", " about PullRequest 7 of me/r", { pullRequestId: "P" })],
  [["label", "delete", "bug"], "DELETE /repos/me/r/labels/other"],
  [["label", "delete", "bug"], "DELETE /repos/me/other/labels/bug"],
  [["repo", "edit", "--description", "D"], 'PATCH /repos/me/r with {"visibility":"public"}'],
  [["workflow", "run", "deploy.yml"], `${dispatch} with {"ref":"main"}`],
  [["workflow", "run", "ci.yml"], `${dispatch} with {"ref":"evil"}`],
  [["workflow", "run", "ci.yml"], `${dispatch} with {"inputs":{"level":"2"},"ref":"main"}`],
  [["workflow", "run", "ci.yml"], 'POST /repos/me/r/actions/workflows/5/dispatches with {"ref":"main"}'],
])("gh %j does not say %s", (words, sent) => {
  expect(expected(...words)?.covers(sent)).toBe(false);
});

test.each<[words: readonly string[], what: string | undefined]>([
  [["api", "-X", "DELETE", "repos/me/r/labels/x"], "DELETE /repos/me/r/labels/x"],
  [
    ["api", "repos/{owner}/{repo}/issues", "-f", "title=T", "--raw-field=body=B"],
    'POST /repos/me/r/issues with {"body":"B","title":"T"}',
  ],
  [["api", "/orgs/acme/members", "--jq", ".[]"], "read /orgs/acme/members"],
  [["api", "graphql", "-f", "query={ viewer { login } }"], undefined],
  [["api", "repos/me/r/issues", "-F", "n=@file"], undefined],
  [["api", "repos/me/r/issues", "--input", "file"], undefined],
  [["api", "search/issues", "-X", "GET", "-f", "q=x"], undefined],
])("gh %j: %s", (words, what) => {
  expect(expected(...words)?.what).toBe(what);
});

test.each([
  ["pr", "list"],
  ["secret", "set"],
  ["gist", "create"],
])("gh %s %s: nothing is known", (...words) => {
  expect(expected(...words)).toBeUndefined();
});
