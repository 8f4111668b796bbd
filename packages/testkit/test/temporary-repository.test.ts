import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";

const files = {
  "README.md": "# Test\n",
  ".gitignore": "*.private\n",
  "a.private": "not git's\n",
  "some/longer directory/ä.txt": "one\n",
  "exactly-ten": Uint8Array.of(0, 255),
};

/** What git sees without reading the files anew. */
async function seen(repository: Awaited<ReturnType<typeof temporaryRepository>>) {
  await repository.git("fsck", "--strict");
  return {
    changed: await repository.git("diff-files", "--name-only"),
    status: await repository.git("status", "--porcelain", "--ignored", "--branch"),
    entries: await repository.git("ls-files", "--stage"),
    commits: await repository.git("log", "--all", "--format=%s %an %ae %T %D"),
    moves: await repository.git("reflog", "--format=%gd %gs"),
    branches: await repository.git("branch", "--list"),
    setting: await repository.git("config", "--local", "--list"),
  };
}

test.each([["with a branch", { branch: "work" }] as const, ["without", {}] as const])(
  "the second repository of the same files is as the first, %s",
  async (_name, options) => {
    await using first = await temporaryRepository(files, options);
    await using second = await temporaryRepository(files, options);
    const expected = await seen(first);
    expect(expected).toMatchObject({ changed: "", commits: expect.stringContaining("first Test") });
    expect(await seen(second)).toEqual(expected);
  },
);

test("one without files has no commit, the second time as well", async () => {
  await using first = await temporaryRepository();
  await using second = await temporaryRepository();
  for (const repository of [first, second])
    expect(await repository.git("status", "--porcelain", "--branch")).toBe("## No commits yet on main");
});

test("what happens in one repository happens in no other", async () => {
  await using first = await temporaryRepository({ "a.txt": "one\n" });
  await using second = await temporaryRepository({ "a.txt": "one\n" });
  await second.write("a.txt", "two\n");
  await second.git("commit", "--quiet", "--all", "--message", "second");
  await using third = await temporaryRepository({ "a.txt": "one\n" });
  for (const repository of [first, third]) expect(await repository.git("log", "--format=%s")).toBe("first");
  expect(await second.git("log", "--format=%s")).toBe("second\nfirst");
});

test("the same names with other contents are other files", async () => {
  await using first = await temporaryRepository({ a: "1", b: "23" });
  await using second = await temporaryRepository({ a: "12", b: "3" });
  expect(await second.git("rev-parse", "HEAD^{tree}")).not.toBe(await first.git("rev-parse", "HEAD^{tree}"));
  expect(await second.git("status", "--porcelain")).toBe("");
});
