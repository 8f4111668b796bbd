import { chmodSync, lstatSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { sha256Hex } from "@gennai/protocol/digest";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { useMachine } from "../use-machine.ts";
import { commit, words } from "./staged-commands.ts";

const machine = useMachine();

describe("a file that its user changes while they are asked about the command", () => {
  const text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const users = text.replace("8", "user's");
  const command = "sed -i s/2/agent/ a.txt; echo 2 > b.txt";

  test.each<[string, (path: string) => void]>([
    ["in place", (path) => writeFileSync(path, users)],
    [
      "by another file in its place",
      (path) => {
        writeFileSync(`${path}~`, users);
        renameSync(`${path}~`, path);
      },
    ],
  ])("holds both where the lines are others: %s", async (_how, change) => {
    await using repository = await temporaryRepository({ "a.txt": text, "b.txt": "1\n" });
    const staged = await machine().run(repository.root, command);
    change(repository.path("a.txt"));
    const merged = users.replace("2", "agent");
    const [edit] = staged.edits(new Set()).files;
    expect([edit?.before?.sha256, edit?.after?.sha256]).toEqual([sha256Hex(users), sha256Hex(merged)]);
    expect(edit?.copied()?.toString()).toBe(users);
    const { changes } = await staged.keep(new Set());
    expect([await repository.read("a.txt"), await repository.read("b.txt")]).toEqual([merged, "2\n"]);
    expect(changes[0]).toMatchObject({ beforeSha256: sha256Hex(users), afterSha256: sha256Hex(merged) });
  });

  test("is on top of the hunks that were kept of it", async () => {
    await using repository = await temporaryRepository({ "a.txt": `${text}${text}${text}`, "b.txt": "1\n" });
    const staged = await machine().run(repository.root, "sed -i s/2/agent/ a.txt; echo 2 > b.txt");
    const { id, hunks } = staged.proposed().find(({ path }) => path === "a.txt") ?? {};
    const decisions = hunks?.map((hunk, at) => [hunk.id, { type: at === 1 ? "keep" : "undo" } as const] as const);
    writeFileSync(repository.path("a.txt"), `${users}${text}${text}`);
    const { changes } = await staged.keep(new Set(), { inPart: new Map([[id ?? "", new Map(decisions)]]) });
    const merged = `${users}${text.replace("2", "agent")}${text}`;
    expect([await repository.read("a.txt"), await repository.read("b.txt")]).toEqual([merged, "2\n"]);
    expect(changes[0]).toMatchObject({ afterSha256: sha256Hex(merged) });
  });

  test("is on top of what the command committed", async () => {
    await using repository = await temporaryRepository({ "a.txt": text });
    const staged = await machine().run(repository.root, `sed -i s/2/agent/ a.txt; ${commit} -am x`);
    writeFileSync(repository.path("a.txt"), users);
    await staged.keep(new Set());
    expect(await repository.read("a.txt")).toBe(users.replace("2", "agent"));
    const diff = await repository.git("diff", "-U0", "HEAD");
    expect(diff.match(/^[+-](?![+-]).*$/gm)).toEqual(["-8", "+user's"]);
    expect(await repository.git("status", "--porcelain")).toBe(" M a.txt");
  });

  test.each<[string, string, (path: string) => void]>([
    ["the same line", command, (path) => writeFileSync(path, text.replace("2", "user's"))],
    ["a line beside it", command, (path) => writeFileSync(path, text.replace("3", "user's"))],
    ["its mode", command, (path) => chmodSync(path, 0o600)],
    ["that it is a file", command, (path) => (rmSync(path), symlinkSync("b.txt", path))],
    ["that it is there", command, (path) => rmSync(path)],
    ["a file that is no text", "printf '1\\0' > a.txt", (path) => writeFileSync(path, users)],
  ])("is not overwritten, and nothing is kept: %s", async (_what, run, change) => {
    await using repository = await temporaryRepository({ "a.txt": text, "b.txt": "1\n" });
    const staged = await machine().run(repository.root, run);
    change(repository.path("a.txt"));
    const now = lstatSync(repository.path("a.txt"), { throwIfNoEntry: false });
    staged.edits(new Set());
    await expect(staged.keep(new Set())).rejects.toMatchObject({
      code: "stale_file",
      message: expect.stringContaining("a.txt"),
    });
    const { ino, ctimeMs } = lstatSync(repository.path("a.txt"), { throwIfNoEntry: false }) ?? {};
    expect([ino, ctimeMs]).toEqual([now?.ino, now?.ctimeMs]);
    expect(await repository.read("b.txt")).toBe("1\n");
  });
});

describe("what its user saves while a command runs", () => {
  const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const users = lines.replace("9", "user's");
  /** Runs it once the user has saved. */
  async function saving(
    repository: TemporaryRepository,
    command: string,
    save: (path: string) => unknown,
    before = "",
  ): Promise<Awaited<ReturnType<ReturnType<typeof machine>["run"]>>> {
    const waits = `${before}; echo started; until grep -q go b.txt; do :; done; ${command}`.replace(/^; /, "");
    const heard = async (output: string): Promise<void> => {
      if (!output.includes("started")) return;
      await save(repository.path("a.txt"));
      writeFileSync(repository.path("b.txt"), "go\n");
    };
    return machine().run(repository.root, waits, false, undefined, [], undefined, undefined, undefined, heard);
  }

  test.each([
    ["had read it before", "sed -i s/2/agent/ a.txt", ""],
    ["had written it before", "true", "sed -i s/2/agent/ a.txt"],
    ["kept its text from before", 'printf %s "$kept" | sed s/2/agent/ > a.txt', "kept=$(cat a.txt; echo)$'\\n'"],
    ["commits it", `sed -i s/2/agent/ a.txt; ${commit} -qam x`, ""],
    ["committed it before", "true", `sed -i s/2/agent/ a.txt; ${commit} -qam x`],
  ])("stays, with what the command did, where it %s", async (_how, command, before) => {
    await using repository = await temporaryRepository({ "a.txt": lines, "b.txt": "1\n" });
    const staged = await saving(repository, command, (path) => writeFileSync(path, users), before);
    const [edit] = staged.edits(new Set()).files;
    expect(edit?.copied()?.toString()).toBe(users);
    await staged.keep(new Set());
    expect(await repository.read("a.txt")).toBe(users.replace("2", "agent"));
  });

  test("is asked about: what was in no commit, and the user took back, looks like the command's", async () => {
    await using repository = await temporaryRepository({ "a.txt": lines, "b.txt": "1\n" });
    await repository.write("a.txt", lines.replace("5", "5\nnever committed"));
    const save = (path: string): void => writeFileSync(path, users);
    const staged = await saving(repository, "true", save, "sed -i s/2/agent/ a.txt");
    expect(staged.diff()).toContain("+never committed");
    expect(staged.effects.map(words)).toEqual(["update a.txt tracked merged"]);
    await staged.keep(new Set(staged.parts.map(({ id }) => id)));
    expect(await repository.read("a.txt")).toBe(users);
  });

  test.each<[string, string, (repository: TemporaryRepository) => (path: string) => unknown]>([
    ["on the same line", "true", () => (path) => writeFileSync(path, lines.replace("2", "user's"))],
    [
      "in a file of no commit",
      "true",
      (repository) => async (path) => {
        await repository.git("rm", "-q", "--cached", "a.txt");
        await repository.git("commit", "-qm", "out");
        writeFileSync(path, users);
      },
    ],
    [
      "and commits",
      "true",
      (repository) => async (path) => {
        writeFileSync(path, users);
        await repository.git("commit", "-qam", "users");
      },
    ],
  ])("refuses the command's change %s", async (_how, command, save) => {
    await using repository = await temporaryRepository({ "a.txt": lines, "b.txt": "1\n" });
    const staged = await saving(repository, command, save(repository), "sed -i s/2/agent/ a.txt");
    const now = await repository.read("a.txt");
    await expect(staged.keep(new Set())).rejects.toMatchObject({ code: "stale_file" });
    expect(await repository.read("a.txt")).toBe(now);
    await staged.drop();
  });
});

test("what somebody else changed meanwhile is not overwritten", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", "b.txt": "1\n" });
  const staged = await machine().run(repository.root, "echo 2 > a.txt; echo 2 > b.txt");
  writeFileSync(repository.path("a.txt"), "user\n");
  await expect(staged.keep(new Set())).rejects.toMatchObject({
    code: "stale_file",
    message: expect.stringContaining("a.txt"),
  });
  expect([await repository.read("a.txt"), await repository.read("b.txt")]).toEqual(["user\n", "1\n"]);
});
