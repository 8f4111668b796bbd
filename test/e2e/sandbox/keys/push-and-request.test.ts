import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { listening } from "@gennai/testkit/listening";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { branches, gitWorld } from "./services/git-host.ts";

afterEach(() => vi.unstubAllEnvs());

const token = "ghp_correcthorsebattery";

/** As `gh pr create --fill` and `--body-file` do: texts from commits and files, sent by a mutation. */
const gh = `#!/usr/bin/env node
const [group, verb, ...rest] = process.argv.slice(2);
if (group === "auth") { console.log("${token}"); process.exit(0); }
const run = (...args) => require("node:child_process").execFileSync("git", args).toString().trim();
const at = rest.indexOf("--body-file");
const title = at < 0 ? run("log", "-1", "--format=%s") : rest[rest.indexOf("--title") + 1];
const body = at < 0 ? run("log", "-1", "--format=%b") : require("node:fs").readFileSync(rest[at + 1], "utf8");
const input = { baseRefName: "main", body, headRefName: "work", repositoryId: "R", title };
const query = "mutation($input: CreatePullRequestInput!) { createPullRequest(input: $input) { clientMutationId } }";
const headers = { authorization: "token " + process.env.GH_ENTERPRISE_TOKEN, "content-type": "application/json" };
require("node:https").request("https://" + process.env.GH_HOST + "/api/graphql", { method: "POST", headers }, (answer) => {
  console.log("answered", answer.statusCode);
}).on("error", (error) => { process.exitCode = 1; console.log(error.message); }).end(JSON.stringify({ query, variables: { input } }));
`;

/** An API that says of each id that it is the repository, and keeps what it was sent. */
async function api(tls: { readonly cert: string; readonly key: string }) {
  const sent: string[] = [];
  const nodes = [{ __typename: "Repository", nameWithOwner: "me/r" }];
  const server = createServer(tls, async (request, response) => {
    const body = await text(request);
    if (body.includes("mutation")) sent.push(body);
    response.writeHead(request.headers.authorization === `token ${token}` ? 200 : 401);
    response.end(JSON.stringify({ data: { nodes } }));
  });
  return { server, sent, ...(await listening(server)) };
}

test("a push with a pull request behind it: one question with both, with the texts of the commit or the file; another text is another question", async () => {
  await using certificates = await makeTestCertificates(["DNS:git.example"]);
  const { cert, key } = await certificates.issue("server");
  await using service = await api({ cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") });
  await using tools = await temporaryDirectory({ "bin/gh": gh, "ca.crt": certificates.ca });
  chmodSync(tools.path("bin/gh"), 0o755);
  for (const name of ["NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"]) vi.stubEnv(name, undefined);
  vi.stubEnv("SSL_CERT_FILE", tools.path("ca.crt"));
  vi.stubEnv("GH_HOST", "git.example");
  vi.stubEnv("PATH", `${tools.path("bin")}:${process.env["PATH"]}`);
  await using at = await gitWorld(
    [
      "git push origin work && gh pr create --fill -R git.example/me/r",
      "gh pr create --title T --body-file notes.md -R git.example/me/r",
      "echo evil > notes.md && gh pr create --title T --body-file notes.md -R git.example/me/r",
    ],
    { "notes.md": "What it is for.\n" },
  );
  const { bare, host, outside, server, workspace } = at;
  outside.host("git.example", 443, service.server);
  await workspace.git("update-ref", "refs/remotes/origin/main", "HEAD");
  await workspace.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
  execFileSync("git", ["-C", workspace.root, "commit", "-q", "--allow-empty", "-m", "Add it\n\nIt is needed."]);
  await using session = await AskedSession.start(server);

  const both = await session.turn("once");
  const head = await workspace.git("rev-parse", "HEAD");
  expect(both.output).toContain("answered 200");
  expect(both.questions).toHaveLength(1);
  expect(both.questions[0]?.title).toContain(`push ${head} to refs/heads/work (new) at 127.0.0.1:${host.port}`);
  expect(both.questions[0]?.title).toContain(
    'do what `gh pr create -R git.example/me/r --title "Add it" --body "It is needed."` says at git.example:443',
  );
  expect(branches(bare)).toContain(`refs/heads/work ${head}`);

  const withFile = await session.turn("once");
  expect(withFile.output).toContain("answered 200");
  expect(withFile.questions.map(({ title }) => title)).toEqual([
    expect.stringContaining('do what `gh pr create --title T --body "What it is for." -R git.example/me/r` says at '),
  ]);

  const changed = await session.turn("once", "no");
  expect(changed.questions.map(({ title }) => title)).toEqual([
    expect.stringMatching(/reach git\.example:443 with [^"]*$/),
    expect.stringMatching(/send this: createPullRequest.*evil/),
  ]);
  expect(service.sent.map((body) => /"title":"([^"]*)"/.exec(body)?.[1])).toEqual(["Add it", "T"]);
});
