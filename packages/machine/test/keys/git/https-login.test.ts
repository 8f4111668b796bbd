import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { readGitAddress } from "#keys/git/git-address";
import { gitWithLogin } from "#keys/git-with-login";
import { guardedPlace } from "#keys/plan-key";

test.each(["https://[::1]:8443", "https://[::1]", "http://git.example:8080"])(
  "the login of the user's own helper for %s is handed to git for that place",
  async (origin) => {
    const address = readGitAddress(`${origin}/me/r.git`);
    if (typeof address === "string") throw new Error(address);
    const answer = `!printf 'username=me\\npassword=correct-horse\\n' #`;
    const name = `credential.${origin}.helper`;
    await using home = await temporaryDirectory({
      ".gitconfig": `[credential "${origin}"]\n\thelper = "!printf 'username=me\\\\npassword=correct-horse\\\\n' #"\n`,
    });
    const { root } = home;
    const { signal } = new AbortController();
    const keys = { home: root, environment: { HOME: root, PATH: process.env["PATH"] } };
    const place = guardedPlace({ directory: root, workspaceRoot: root, keys, signal });
    const run = { address, user: [[name, answer] as const], text: "git fetch", environment: {}, mounts: [] };
    const key = await (await gitWithLogin(run, place)).uncover({ signal });
    expect(Object.values(key.environment)).toContain(name);
    expect(key.secrets).toEqual(["correct-horse"]);
  },
);
