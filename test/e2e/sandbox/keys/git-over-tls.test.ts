import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { makeTestCertificates } from "@gennai/testkit/test-certificates";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";
import { bareRepository, branches, password, reachable, userHome } from "./services/git-host.ts";
import { gitOverHttp } from "./services/git-over-http.ts";

beforeEach(() => {
  // It would outrank git's own setting.
  for (const name of ["GIT_SSL_CAINFO", "SSL_CERT_FILE", "CURL_CA_BUNDLE"]) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

/** Fails, so that nothing is sent, if it finds a login where it runs, or gets another page of the host. */
const prePush = `#!/bin/sh
found=$({ env; cat /proc/*/environ | tr '\\0' '\\n'; cat ~/login ~/.git-credentials; git config --list; } 2>/dev/null | grep -ci horse)
curl -sSf -m 5 -k "$2/HEAD" && exit 1
[ "$found" = 0 ]
`;

test("over TLS, whose authority the user's own git settings name: clone, fetch and push by a yes each; a hook finds no login", async () => {
  await using certificates = await makeTestCertificates();
  const { cert, key } = await certificates.issue("server");
  await using home = await userHome();
  await home.write("corp/ca.pem", certificates.ca);
  await home.write(".gitconfig", `${await home.read(".gitconfig")}[http]\n\tsslCAInfo = ~/corp/ca.pem\n`);
  await using bare = await bareRepository();
  const tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  await using host = await gitOverHttp(bare.root, { user: "me", password }, tls);
  using outside = reachable(host.port);
  const url = `https://127.0.0.1:${host.port}/r.git`;
  await using server = await staging(
    ["git push origin work", "git fetch origin", `git clone -q ${url} node_modules/copy`],
    {},
    {},
    { outside },
  );
  await server.workspace.git("remote", "add", "origin", url);
  await server.workspace.write(".git/hooks/pre-push", prePush);
  execFileSync("chmod", ["755", server.workspace.path(".git/hooks/pre-push")]);
  await using session = await AskedSession.start(server);

  const pushed = await session.turnWithYes();
  expect(pushed.questions, pushed.output).toHaveLength(1);
  expect(pushed.output).toContain("exit code 0");
  const head = await server.workspace.git("rev-parse", "HEAD");
  expect(branches(bare)).toBe(`refs/heads/work ${head}\n`);

  // The host says first that it wants a login.
  for (const _each of ["fetch", "clone"]) {
    const { questions, output } = await session.turnWithYes();
    expect(
      questions.map(({ computed }) => computed?.rule),
      output,
    ).toEqual(["network/connection", "keys/use"]);
    expect(output).toContain("exit code 0");
  }

  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(password);
});
