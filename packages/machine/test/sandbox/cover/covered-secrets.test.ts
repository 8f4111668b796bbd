import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type SandboxFixture, sandboxFixture } from "../sandbox-fixture.ts";

let box: SandboxFixture;
beforeEach(async () => {
  box = await sandboxFixture({ "package.json": "{}\n" });
});
afterEach(() => box[Symbol.asyncDispose]());

const secret = "ENV-SECRET\n";

function put(path: string, text = secret): string {
  const file = join(box.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe("a secret stays covered wherever a command moves it", () => {
  test.each([
    ["node_modules", "mkdir -p node_modules && mv config node_modules/config", "node_modules/config/prod/.env"],
    ["__pycache__", "mkdir -p a/__pycache__ && mv config a/__pycache__/", "a/__pycache__/config/prod/.env"],
    ["a hidden directory", "mkdir .pnpm-store && mv config .pnpm-store/config", ".pnpm-store/config/prod/.env"],
    ["a newline in a name", "mkdir $'a\\nb' && mv config $'a\\nb/config'", "a\nb/config/prod/.env"],
  ])("below %s", async (_where, move, moved) => {
    put("config/prod/.env");
    expect((await box.run(move)).exitCode).toBe(0);
    expect(readFileSync(join(box.root, moved), "utf8")).toBe(secret);
    const read = await box.run(`cat '${moved}' config/prod/.env; find . -name .env -exec cat {} +`);
    expect(read.output).not.toContain("ENV-SECRET");
    expect(read.output).toMatch(/Permission denied|No such file/);
  });

  test.each([
    [".aws/credentials", "mv infra/.aws infra/aws", "infra/aws/credentials"],
    [".kube/config", "mv infra/.kube infra/kube", "infra/kube/config"],
    [".config/gcloud/x.db", "mv infra/.config infra/config", "infra/config/gcloud/x.db"],
    [".ssh/.aws/x", "mv infra/.ssh/.aws infra/.ssh/a; mv infra/.ssh infra/s", "infra/s/a/x"],
  ])("also where a directory names it: %s", async (path, move, moved) => {
    put(`infra/${path}`);
    expect((await box.run(move)).output).toMatch(/busy/);
    expect((await box.run("touch infra/new && mv infra x")).exitCode).toBe(0);
    const { output } = await box.run(`cat x/${path} '${moved.replace("infra", "x")}'; find . -type f -exec cat {} +`);
    expect(output).not.toContain("ENV-SECRET");
    expect(output).toContain("Permission denied");
  });

  test.each(["rm .env", "mkdir d; mv .env d/.env", "mv shared moved", "mv .env plain"])(
    "also where a link names it: %s",
    async (removes) => {
      put("shared/text");
      symlinkSync("shared/text", join(box.root, ".env"));
      await box.run(removes);
      const { output } = await box.run("cat shared/text; find . -type f -exec cat {} +");
      expect(output).not.toContain("ENV-SECRET");
      expect(output).toContain("Permission denied");
    },
  );

  test.each([".git/x/.env", ".git/refs/x/.env", ".git/modules/m/id_rsa"])("at %s", async (path) => {
    put(path);
    const { output } = await box.run(`cat ${path}`);
    expect(output).not.toContain("ENV-SECRET");
    expect(output).toContain("Permission denied");
  });

  test("among 50,010 directories", async () => {
    mkdirSync(join(box.root, "many"));
    for (let index = 0; index < 50_010; index += 1) mkdirSync(join(box.root, "many", `${index}`));
    put("zz/.env");
    expect((await box.run("cat zz/.env")).output).toContain("Permission denied");
  });

  test("and a directory that cannot be looked into lets no command run", async () => {
    put("config/prod/.env");
    expect((await box.run("mkdir $'\\xff' && mv config $'\\xff/config'")).exitCode).toBe(0);
    await expect(box.run("cat $'\\xff/config/prod/.env'")).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/not UTF-8/),
    });
  });

  test("nor does one that lies too deep", async () => {
    put("config/prod/.env");
    const deep = "d".repeat(200);
    const move = `mv config x && for i in $(seq 25); do mkdir n && mv x n/${deep} && mv n x; done`;
    expect((await box.run(move)).exitCode).toBe(0);
    await expect(box.run("true")).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: expect.stringMatching(/too long/),
    });
    rmSync(join(box.root, "x"), { recursive: true });
  });

  test("a branch that is named like a secret is a branch", async () => {
    expect(
      (await box.run("git checkout -q -b fix.key && git log --format=%s -1 && git rev-parse fix.key")).exitCode,
    ).toBe(0);
    expect((await box.run("git rev-parse --abbrev-ref HEAD && git log -1 --format=%s fix.key")).output).toMatch(
      /^fix\.key\n\S/,
    );
  });
});

describe("files with several names", () => {
  test("a secret is covered by all of them", async () => {
    const env = put("config/.env");
    linkSync(env, join(box.root, "notes.txt"));
    mkdirSync(join(box.root, ".git", "x"));
    linkSync(env, join(box.root, ".git", "x", "y"));
    const { output } = await box.run("cat config/.env notes.txt .git/x/y");
    expect(output).not.toContain("ENV-SECRET");
    expect(output.match(/Permission denied/g)).toHaveLength(3);
  });

  test("also by one that came after it was seen first", async () => {
    const env = put("config/.env");
    await box.run("true");
    mkdirSync(join(box.root, "new"));
    linkSync(env, join(box.root, "new", "notes.txt"));
    expect((await box.run("cat new/notes.txt")).output).toContain("Permission denied");
  });

  test("nothing outside is written through a name inside, nor moved in and written", async () => {
    await using outside = await temporaryDirectory();
    const profile = join(outside.root, "profile");
    writeFileSync(profile, "mine\n");
    linkSync(profile, join(box.root, "linked.txt"));
    const run = await box.run(
      "echo evil >> linked.txt; cp a.txt linked.txt; ln linked.txt again && echo evil > again; chmod 777 linked.txt; cat linked.txt",
    );
    expect(run.output).toContain("mine");
    expect(readFileSync(profile, "utf8")).toBe("mine\n");
    expect(statSync(profile).mode & 0o777).not.toBe(0o777);
  });

  test("a store of packages is not changed through the directory it was linked into", async () => {
    await using store = await temporaryDirectory();
    for (let index = 0; index < 300; index += 1) {
      writeFileSync(join(store.root, `${index}.js`), "theirs\n");
      mkdirSync(join(box.root, "node_modules/.pnpm", `p${index}`), { recursive: true });
      linkSync(join(store.root, `${index}.js`), join(box.root, "node_modules/.pnpm", `p${index}`, "index.js"));
    }
    await box.run(
      "for f in node_modules/.pnpm/*/index.js; do echo evil > $f; done; mkdir node_modules/.vite && echo ok > node_modules/.vite/x",
    );
    for (let index = 0; index < 300; index += 1)
      expect(readFileSync(join(store.root, `${index}.js`), "utf8")).toBe("theirs\n");
    expect(readFileSync(join(box.root, "node_modules/.vite/x"), "utf8")).toBe("ok\n");
  });

  test("files that are linked to one another in the workspace are written like others", async () => {
    const one = put("target/one", "1\n");
    linkSync(one, join(box.root, "target/two"));
    expect((await box.run("echo 2 > target/one && cat target/two")).output).toBe("2\n");
    unlinkSync(join(box.root, "target/two"));
    expect((await box.run("echo 3 > target/one && cat target/one")).output).toBe("3\n");
    renameSync(one, join(box.root, "target/three"));
    expect((await box.run("echo 4 > target/three && cat target/three")).output).toBe("4\n");
  });
});
