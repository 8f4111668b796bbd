import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { argumentPaths } from "#mcp/argument-paths";

const home = "/home/nobody";
const roundabout = `/${"./".repeat(4_000)}etc/passwd`;
const ssh = "/home/nobody/.ssh/id_rsa";

async function named(args: unknown, cwd?: string): Promise<readonly string[]> {
  await using directory = await temporaryDirectory();
  await using state = await temporaryDirectory();
  await mkdir(join(directory.root, "packages/a"), { recursive: true });
  await writeFile(join(directory.root, "packages/a/.env"), "x");
  await writeFile(join(directory.root, "notes.txt"), "x");
  await symlink("/etc", join(directory.root, "elsewhere"));
  const workspace = openLocalWorkspace(directory.root, { stateDir: state.root });
  const paths = await argumentPaths(args, { workspace, home, cwd });
  return paths.map(({ inside, relative, absolute }) => (inside ? relative : absolute));
}

test.each<[string, unknown, readonly string[]]>([
  ["a network path, which is one of this machine here", "//etc/passwd", ["/etc/passwd"]],
  ["a name with a dot behind it", "/etc/passwd.", ["/etc/passwd"]],
  ["a name with a blank behind it", "/etc/passwd ", ["/etc/passwd"]],
  ["a blank in front", "  ~/.ssh/id_rsa\n", [ssh]],
  ["an invisible character", "/etc/pass\u200bwd", ["/etc/passwd"]],
  ["backslashes", "..\\..\\..\\..\\..\\..\\..\\etc\\passwd", ["/etc/passwd"]],
  ["a variable", "$HOME/.ssh/id_rsa", [ssh]],
  ["a variable in braces", "${HOME}/.ssh/id_rsa", [ssh]],
  ["an address of a host's file", "file://localhost/etc/passwd", ["/etc/passwd"]],
  ["an address of another host's file", "file://evil/etc/passwd", ["/etc/passwd"]],
  ["an encoded address", "file:///%2565tc/passwd", ["/etc/passwd"]],
  ["an address without a host", "sqlite:///etc/passwd", ["/etc/passwd"]],
  ["percent-encoding", "%2Fetc%2Fpasswd", ["/etc/passwd"]],
  [
    "percent-encoding of percent-encoding",
    "%252e%252e%252f%252e%252e/%252e%252e/%252e%252e/%252e%252e/etc/passwd",
    ["/etc/passwd"],
  ],
  ["JSON in a string", '{"files":["/etc/passwd"]}', ["/etc/passwd"]],
  ["JSON in JSON", JSON.stringify(JSON.stringify({ a: ["/etc/passwd"] })), ["/etc/passwd"]],
  ["an option's value", "--file=/etc/passwd", ["/etc/passwd"]],
  ["an option's quoted value", 'file="/etc/passwd"', ["/etc/passwd"]],
  ["a file to send", "@/etc/passwd", ["/etc/passwd"]],
  ["a key", { "/etc/passwd": "r" }, ["/etc/passwd"]],
  ["an array in an array", [[["/etc/passwd"]]], ["/etc/passwd"]],
  ["a path longer than paths are", roundabout, ["/etc/passwd"]],
  ["a link out of the workspace", "elsewhere/passwd", ["/etc/passwd"]],
])("%s", async (_name, args, paths) => {
  expect(await named({ text: args })).toEqual(expect.arrayContaining([...paths]));
});

test.each<[string, unknown, readonly string[]]>([
  [
    "words, addresses and expressions",
    ["just words", "https://example.org/a/../b", "\\d+/\\w*", "and so on ...", "1/2"],
    ["1/2"],
  ],
  ["a key that is a word", { "notes.txt": 1 }, []],
])("%s", async (_name, args, paths) => {
  expect(await named({ text: args })).toEqual(paths);
});

test("a name below the directory that the server runs in", async () => {
  expect(await named({ text: ".env" }, "packages/a")).toEqual(["packages/a/.env"]);
  expect(await named({ text: "text/plain" }, "/opt")).toEqual(["text/plain"]);
  expect(await named({ text: "../../../x" }, "packages/a")).toHaveLength(2);
});

test("what is too deep or too much is not looked past", async () => {
  let deep: unknown = "/etc/passwd";
  for (let level = 0; level < 40; level += 1) deep = [deep];
  await expect(named(deep)).rejects.toMatchObject({ code: "too_large" });
  await expect(named(Array.from({ length: 600 }, (_, index) => `n${index}`))).rejects.toMatchObject({
    code: "too_large",
  });
  await expect(named("/con")).rejects.toMatchObject({ code: "bad_path" });
});
