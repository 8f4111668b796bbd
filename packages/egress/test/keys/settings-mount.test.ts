import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { gitAddressText, readGitAddress } from "#keys/git/git-address";
import { settingsMount } from "#keys/plan-push";

const places = ["remotes", "branches"] as const;
const lines = { remotes: "URL: me@elsewhere.example:taken.git\n", branches: "me@elsewhere.example:taken.git\n" };

describe("files of git's directory name no other address", () => {
  test.each([
    "git@host.example:repo.git",
    "host.example:repo.git",
    "ssh://git@host.example/repo.git",
    "https://host.example/r.git",
  ])("%s", async (given) => {
    const address = readGitAddress(given);
    if (typeof address === "string") throw new Error(address);
    const named = gitAddressText(address);
    for (const place of places) {
      await using repository = await temporaryRepository({});
      const planted = `.git/${place}/${named}`;
      await repository.write(planted, lines[place]);
      const entries = [["core.bare", "false"]] as const;
      const mount = settingsMount({ remote: undefined, address, repository: { entries, file: ".git/config" } });
      await repository.write(".git/config", mount.text);
      expect([place, await repository.git("ls-remote", "--get-url", named)]).toEqual([place, named]);
    }
  });

  test("without that, git obeys them", async () => {
    await using repository = await temporaryRepository({});
    await repository.write(".git/remotes/git@host.example:repo.git", lines.remotes);
    expect(await repository.git("ls-remote", "--get-url", "git@host.example:repo.git")).toContain("elsewhere");
  });
});
