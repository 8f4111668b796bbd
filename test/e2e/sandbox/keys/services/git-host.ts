import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { listening } from "@gennai/testkit/listening";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { vi } from "vitest";
import { staging } from "../../staged/staging.ts";
import { gitOverHttp } from "./git-over-http.ts";

export const password = "correct-horse-battery";

/** The login of a home below, for a server of this machine and its one repository. */
export function loginAt(port: number): string {
  const host = `127.0.0.1:${port}`;
  return `${host} with the login that the user's credential helper (a program of the user's own) has for ${host}, in /r.git`;
}

/** Servers of this process, which commands reach by a question. */
export function reachable(...ports: readonly number[]): TestOutside {
  const outside = new TestOutside();
  for (const port of ports) outside.servers.set(`127.0.0.1:${port}`, port);
  return outside;
}

/** A home of the user's, with a credential helper; and bare repositories. */
export async function userHome(): Promise<TemporaryDirectory> {
  const home = await temporaryDirectory({
    ".gitconfig": `[credential]\n\thelper = "!f() { test \\"$1\\" = get && cat ~/login; }; f"\n[user]\n\tname = Me\n\temail = me@example.com\n`,
    login: `username=me\npassword=${password}\n`,
  });
  vi.stubEnv("HOME", home.root);
  return home;
}

export async function bareRepository(): Promise<TemporaryDirectory> {
  const bare = await temporaryDirectory();
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", bare.path("r.git")]);
  execFileSync("git", ["-C", bare.path("r.git"), "config", "http.receivepack", "true"]);
  return bare;
}

export function branches(bare: TemporaryDirectory): string {
  return execFileSync("git", [
    "-C",
    bare.path("r.git"),
    "for-each-ref",
    "--format=%(refname) %(objectname)",
  ]).toString();
}

/** Whom nobody may send anything. */
export async function evilServer() {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end();
  });
  const { port } = await listening(server);
  return { requests, port, [Symbol.dispose]: () => void server.close() };
}

/** A server whose commands reach a git host as `origin`, with a repository that only a login of the user's own helper reads. */
export async function gitWorld(commands: readonly string[], files: Readonly<Record<string, string>> = {}) {
  await using parts = new AsyncDisposableStack();
  const home = parts.use(await userHome());
  const bare = parts.use(await bareRepository());
  const host = parts.use(await gitOverHttp(bare.root, { user: "me", password }));
  const outside = parts.use(reachable(host.port));
  const server = parts.use(await staging(commands, files, {}, { outside }));
  const { workspace } = server;
  await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
  const owned = parts.move();
  return { home, bare, host, outside, server, workspace, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
