import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { SearchQuery, Workspace, WorkspaceChange } from "@gennai/server/workspace/workspace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

/** A workspace on a fresh directory that the suite may fill behind the workspace's back. */
export interface WorkspaceFixture extends AsyncDisposable {
  readonly workspace: Workspace;
  /** Real path of the workspace on this machine. */
  readonly directory: string;
  /** Real path of a directory beside it, outside. */
  readonly outside: string;
}

/** What every implementation of the `Workspace` port has to do. Call it in a test file with a factory. */
export function describeWorkspace(name: string, open: () => Promise<WorkspaceFixture>): void {
  let fixture: WorkspaceFixture;
  let workspace: Workspace;
  let directory: string;
  const signal = new AbortController().signal;

  beforeEach(async () => {
    fixture = await open();
    workspace = fixture.workspace;
    directory = fixture.directory;
  });
  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const file = (path: string, content: string | Uint8Array): string => {
    const absolute = join(directory, path);
    mkdirSync(join(absolute, ".."), { recursive: true });
    writeFileSync(absolute, content);
    return absolute;
  };
  const content = (path: string): string => readFileSync(join(directory, path), "utf8");
  const tree = (): string[] => readdirSync(directory, { recursive: true }).map(String).sort();

  const create = async (path: string, text: string): Promise<WorkspaceChange> => ({
    operation: "create",
    path: await workspace.resolve(path),
    bytes: Buffer.from(text),
  });
  const update = async (path: string, from: string, to: string): Promise<WorkspaceChange> => ({
    operation: "update",
    path: await workspace.resolve(path),
    bytes: Buffer.from(to),
    baseSha256: sha256(from),
  });
  const remove = async (path: string, from: string): Promise<WorkspaceChange> => ({
    operation: "delete",
    path: await workspace.resolve(path),
    baseSha256: sha256(from),
  });

  describe(`${name}: resolve`, () => {
    test.each([
      ["empty", ""],
      ["5000 characters", "a/".repeat(2500)],
      ["name over 255 bytes", "a".repeat(300)],
      ["NUL", "a\0b"],
      ["newline", "src/a\nb"],
      ["ESC", "src/\u001b[31m"],
      ["next line (U+0085)", "src/a\u0085b"],
      ["zero width space", ".g\u200bit/config"],
      ["bidi override", "src/\u202egpj.exe"],
      ["byte order mark", "\ufeffsrc/a.ts"],
      ["soft hyphen", "s\u00adrc/a.ts"],
      ["line separator", "src/a\u2028b"],
      ["tag character", "src/a\u{e0041}"],
      ["lone surrogate", "src/\ud800"],
      ["file URI", "file:///etc/passwd"],
      ["file URI with host", "file://localhost/etc/passwd"],
      ["file URI without slashes", "file:etc/passwd"],
      ["other scheme", "vscode-remote://x/etc/passwd"],
      ["one slash after the scheme", "ssh:/host/x"],
      ["backslashes", "..\\..\\etc\\passwd"],
      ["drive", "C:/Windows/x"],
      ["drive-relative", "C:x"],
      ["verbatim", "\\\\?\\C:\\x"],
      ["UNC", "//server/share/x"],
      ["alternate stream", "README.md::$DATA"],
      ["stream type", "src/a.ts:$DATA"],
      ["CON", "CON"],
      ["NUL device", "src/nul"],
      ["AUX with extension", "aux.txt"],
      ["COM1", "src/COM1/x"],
      ["LPT with extension", "lpt9.tar.gz"],
      ["trailing space", "README.md "],
      ["trailing dot", "README.md."],
      ["trailing space in a directory", "src /a.ts"],
      ["home", "~/.ssh/id_rsa"],
      ["another home", "~root/.ssh/id_rsa"],
      ["variable", "$HOME/.ssh/id_rsa"],
      ["variable in braces", "${HOME}/.ssh/id_rsa"],
    ])("refuses %s", async (_, raw) => {
      await expect(workspace.resolve(raw)).rejects.toMatchObject({ code: "bad_path" });
    });

    test.each([
      ["a file", "src/a.ts", "src/a.ts"],
      ["dot", ".", ""],
      ["dot slash", "./src/./a.ts", "src/a.ts"],
      ["a directory with a slash at its end", "src/", "src"],
      ["double slashes", "src//a.ts", "src/a.ts"],
      ["up and down", "src/../docs/x", "docs/x"],
      ["up from what is missing", "no/such/../x", "no/x"],
      ["missing leaf", "src/new/x.ts", "src/new/x.ts"],
      ["out and in again by name", "../{name}/src/a.ts", "src/a.ts"],
      ["link to a file", "link.ts", "src/a.ts"],
      ["link to a directory", "linked/a.ts", "src/a.ts"],
      ["missing leaf below a link", "linked/deep/new.ts", "src/deep/new.ts"],
      ["link to nothing", "dangling", "src/nothing"],
      ["links are followed before ..", "linked/../src/a.ts", "src/a.ts"],
      ["a name that only looks like a variable", "src/$id.tsx", "src/$id.tsx"],
      ["tilde after ./", "./~backup", "~backup"],
      ["brackets and blanks", "app/[id]/my page.tsx", "app/[id]/my page.tsx"],
      ["three dots in front", ".../x", undefined],
      ["Unicode", "src/café/日本.ts", "src/café/日本.ts"],
      ["device-like beginnings", "src/console.ts", "src/console.ts"],
      ["a time in a name", "logs/10:30:00.log", "logs/10:30:00.log"],
    ])("%s: %s", async (_, raw, relative) => {
      file("src/a.ts", "a");
      symlinkSync("src/a.ts", join(directory, "link.ts"));
      symlinkSync(join(directory, "src"), join(directory, "linked"));
      symlinkSync("src/nothing", join(directory, "dangling"));
      const written = raw.replace("{name}", directory.split("/").at(-1) ?? "");
      if (relative === undefined) {
        await expect(workspace.resolve(written)).rejects.toMatchObject({ code: "bad_path" });
        return;
      }
      const absolute = relative === "" ? workspace.root : `${workspace.root}/${relative}`;
      expect(await workspace.resolve(written)).toEqual({ raw: written, relative, absolute, inside: true });
      expect(await workspace.resolve(absolute)).toEqual({ raw: absolute, relative, absolute, inside: true });
    });

    test.each([
      ["absolute", "/etc/shadow"],
      ["up", "../x"],
      ["far up", "src//..//..//etc/passwd"],
      ["prefix collision", "{root}-evil/x"],
      ["prefix after normalisation", "{root}/../{name}-evil/x"],
      ["link", "out/x"],
      ["link of a link", "src/out/x"],
      ["missing leaf below a link outside", "out/new/deep/x.ts"],
      ["dangling link outside", "dangling"],
      ["link, then ..", "out/../x"],
      ["/proc", "/proc/self/root/etc/passwd"],
      ["/proc back into the workspace", "/proc/self/root{root}/src/a.ts"],
      ["/proc/self/cwd", "/proc/self/cwd/x"],
      ["link to /proc", "proc/self/root/etc/passwd"],
      ["/dev/stdin", "/dev/stdin"],
      ["/dev/fd", "/dev/fd/0"],
      ["/sys", "/sys/kernel/x"],
    ])("%s lies outside: %s", async (_, raw) => {
      file("src/a.ts", "a");
      symlinkSync(fixture.outside, join(directory, "out"));
      symlinkSync("../out", join(directory, "src/out"));
      symlinkSync(join(fixture.outside, "nothing"), join(directory, "dangling"));
      symlinkSync("/proc", join(directory, "proc"));
      const name = workspace.root.split("/").at(-1) ?? "";
      const path = await workspace.resolve(raw.replace("{root}", workspace.root).replace("{name}", name));
      expect(path).toMatchObject({ inside: false, relative: "" });
      await expect(workspace.read(path, { maxBytes: 10 })).rejects.toMatchObject({ code: "outside_workspace" });
      await expect(workspace.apply([{ operation: "create", path, bytes: new Uint8Array() }])).rejects.toMatchObject({
        code: "outside_workspace",
        failureClass: "permission_denied",
      });
      expect(readdirSync(fixture.outside)).toEqual([]);
    });

    test("refuses a loop of links, and a path below a file", async () => {
      symlinkSync("loop", join(directory, "loop"));
      symlinkSync("two", join(directory, "one"));
      symlinkSync("one", join(directory, "two"));
      file("file", "");
      for (const raw of ["loop", "loop/x", "one", "file/x", "file/..", "file/x/y"]) {
        await expect(workspace.resolve(raw)).rejects.toMatchObject({ code: "bad_path" });
      }
    });

    test("refuses a link that leads to a name nobody could see", async () => {
      symlinkSync("src/a\u001b[2Jb", join(directory, "innocent"));
      await expect(workspace.resolve("innocent")).rejects.toMatchObject({ code: "bad_path" });
    });
  });

  describe(`${name}: stat, read, list`, () => {
    test("tells what is there", async () => {
      chmodSync(file("src/run.sh", "12345"), 0o750);
      expect(await workspace.stat(await workspace.resolve("src/run.sh"))).toEqual({
        kind: "file",
        size: 5,
        mode: 0o750,
      });
      expect(await workspace.stat(await workspace.resolve("src"))).toMatchObject({ kind: "directory" });
      expect(await workspace.stat(await workspace.resolve("."))).toMatchObject({ kind: "directory" });
      expect(await workspace.stat(await workspace.resolve("src/none"))).toBeUndefined();
      expect(await workspace.stat(await workspace.resolve("no/such/none"))).toBeUndefined();
    });

    test.each([
      ["empty", new Uint8Array()],
      ["small", Buffer.from("hello\r\n")],
      ["binary", Buffer.from([0, 1, 2, 255])],
      ["of some MiB", Buffer.alloc(3_000_000, "abcdefg")],
    ])("reads a file: %s", async (_, bytes) => {
      file("x", bytes);
      const read = await workspace.read(await workspace.resolve("x"), { maxBytes: bytes.length });
      expect(read.sha256).toBe(sha256(bytes));
      expect(Buffer.compare(read.bytes, bytes)).toBe(0);
    });

    test("refuses what is too large, missing or no regular file, and never blocks", async () => {
      file("large", "12345");
      execFileSync("mkfifo", [join(directory, "fifo")]);
      const server = createServer().listen(join(directory, "socket"));
      try {
        await new Promise((resolve) => server.once("listening", resolve));
        const rows = { large: "too_large", missing: "not_found", "a/missing": "not_found", fifo: "not_a_file" };
        const more = { socket: "not_a_file", ".": "not_a_file" };
        for (const [raw, code] of Object.entries({ ...rows, ...more })) {
          const path = await workspace.resolve(raw);
          await expect(workspace.read(path, { maxBytes: 4 }), raw).rejects.toMatchObject({ code, name: "ToolFailure" });
        }
        await expect(workspace.apply([await update("fifo", "", "x")])).rejects.toMatchObject({ code: "not_a_file" });
      } finally {
        server.close();
      }
    });

    test("a directory or FIFO put in place of a resolved file is refused", async () => {
      file("x", "x");
      const path = await workspace.resolve("x");
      rmSync(join(directory, "x"));
      mkdirSync(join(directory, "x"));
      await expect(workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject({ code: "not_a_file" });
    });

    test("a link put in place of a resolved file or directory is not followed", async () => {
      writeFileSync(join(fixture.outside, "x"), "secret");
      file("dir/x", "x");
      const path = await workspace.resolve("dir/x");
      rmSync(join(directory, "dir/x"));
      symlinkSync(join(fixture.outside, "x"), join(directory, "dir/x"));
      await expect(workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject({ code: "path_changed" });
      expect(await workspace.stat(path)).toMatchObject({ kind: "other" });
      rmSync(join(directory, "dir"), { recursive: true });
      symlinkSync(fixture.outside, join(directory, "dir"));
      await expect(workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject({
        code: "path_changed",
        failureClass: "permission_denied",
      });
      await expect(
        workspace.apply([{ operation: "update", path, bytes: Buffer.from("y"), baseSha256: sha256("secret") }]),
      ).rejects.toMatchObject({ code: "path_changed" });
      expect(readFileSync(join(fixture.outside, "x"), "utf8")).toBe("secret");
      expect(readdirSync(fixture.outside)).toEqual(["x"]);
    });

    test("an aborted read rejects with the signal's reason", async () => {
      file("x", "x");
      const reason = new Error("stopped");
      await expect(
        workspace.read(await workspace.resolve("x"), { maxBytes: 9, signal: AbortSignal.abort(reason) }),
      ).rejects.toBe(reason);
    });

    test("lists names and kinds in order, without what is ignored", async () => {
      for (const path of ["b.ts", "a.log", ".env", "dist/x", "node_modules/y", "src/z", "src/gen/q"]) file(path, "");
      symlinkSync("/etc", join(directory, "etc"));
      const root = await workspace.resolve(".");
      expect(await workspace.list(root, { ignore: ["node_modules/", "*.log", "**/dist/**"], limit: 10 })).toEqual({
        entries: [
          { name: ".env", kind: "file" },
          { name: "b.ts", kind: "file" },
          { name: "etc", kind: "link" },
          { name: "src", kind: "directory" },
        ],
        truncated: false,
      });
      expect(await workspace.list(root, { ignore: [], limit: 2 })).toMatchObject({ truncated: true });
      const src = await workspace.resolve("src");
      expect((await workspace.list(src, { ignore: ["src/gen"], limit: 9 })).entries).toEqual([
        { name: "z", kind: "file" },
      ]);
      await expect(workspace.list(await workspace.resolve("none"), { ignore: [], limit: 9 })).rejects.toMatchObject({
        code: "not_found",
      });
    });
  });

  describe(`${name}: glob, search`, () => {
    const glob = async (pattern: string, base = ".", limit = 100) =>
      workspace.glob(pattern, await workspace.resolve(base), { limit, signal });
    const search = async (query: Partial<SearchQuery> & { pattern: string }, base = ".") =>
      workspace.search(
        { caseSensitive: true, output: "content", context: 0, limit: 100, exclude: [], ...query },
        await workspace.resolve(base),
        { signal },
      );

    beforeEach(() => {
      mkdirSync(join(directory, ".git"));
      file(".git/config", "needle");
      file(".gitignore", "node_modules/\nout.ts\n");
      file("node_modules/m/index.ts", "needle");
      file("out.ts", "needle");
      file("src/a.ts", "one\nneedle two\nthree\n");
      file("src/deep/b.ts", "Needle\r\n");
      file("docs/c.md", "a needle\n");
      file(".env", "KEY=needle\n");
      file("-weird name.ts", "needle\n");
      symlinkSync(fixture.outside, join(directory, "outside"));
      writeFileSync(join(fixture.outside, "z.ts"), "needle");
      ["src/deep/b.ts", "src/a.ts", "-weird name.ts"].forEach((path, index) => {
        utimesSync(join(directory, path), 1000 + index, 1000 + index);
      });
    });

    test.each([
      ["**/*.ts", ".", ["-weird name.ts", "src/a.ts", "src/deep/b.ts"]],
      ["*.ts", ".", ["-weird name.ts", "src/a.ts", "src/deep/b.ts"]],
      ["src/*.ts", ".", ["src/a.ts"]],
      ["./src/*.ts", ".", ["src/a.ts"]],
      ["deep/*", "src", ["src/deep/b.ts"]],
      ["*.{ts,md}", "src", ["src/a.ts", "src/deep/b.ts"]],
      ["**/.env", ".", [".env"]],
      ["--version", ".", []],
      ["node_modules/**", ".", []],
      [".git/*", ".", []],
      ["outside/**", ".", []],
    ])("glob %s in %s", async (pattern, base, paths) => {
      expect(await glob(pattern, base)).toEqual({ paths, truncated: false });
    });

    test("glob gives the newest up to the limit", async () => {
      expect(await glob("*.ts", ".", 1)).toEqual({ paths: ["-weird name.ts"], truncated: true });
    });

    test("search finds lines, hidden files too, but nothing ignored, in .git or behind a link", async () => {
      expect(await search({ pattern: "needle" })).toEqual({
        lines: ["-weird name.ts:1:needle", ".env:1:KEY=needle", "docs/c.md:1:a needle", "src/a.ts:2:needle two"],
        truncated: false,
      });
    });

    test.each([
      ["case", { pattern: "NEEDLE", caseSensitive: false }, "src", ["src/a.ts:2:needle two", "src/deep/b.ts:1:Needle"]],
      [
        "context",
        { pattern: "needle", context: 1 },
        "src",
        ["src/a.ts-1-one", "src/a.ts:2:needle two", "src/a.ts-3-three"],
      ],
      ["files", { pattern: "needle", output: "files" }, "src", ["src/a.ts"]],
      ["count", { pattern: "e", output: "count" }, "src", ["src/a.ts:3", "src/deep/b.ts:1"]],
      ["glob", { pattern: "needle", glob: "*.md" }, ".", ["docs/c.md:1:a needle"]],
      ["glob relative to the base", { pattern: "(?i)needle", glob: "deep/**" }, "src", ["src/deep/b.ts:1:Needle"]],
      [
        "exclude",
        { pattern: "needle", exclude: [".env", "*.md"], glob: "{.env,*.md,a.ts}" },
        ".",
        ["src/a.ts:2:needle two"],
      ],
      [
        "exclude in another case",
        { pattern: "needle", exclude: ["SRC/**", "DOCS/", "-*"] },
        ".",
        [".env:1:KEY=needle"],
      ],
      ["exclude of the base", { pattern: "needle", exclude: ["src/"] }, "src", []],
      ["exclude below the base", { pattern: "(?i)needle", exclude: ["src/deep/**"] }, "src", ["src/a.ts:2:needle two"]],
      ["one file", { pattern: "needle" }, "src/a.ts", ["src/a.ts:2:needle two"]],
      ["one ignored file", { pattern: "needle" }, "out.ts", ["out.ts:1:needle"]],
      ["one excluded file", { pattern: "needle", exclude: [".env*"] }, ".env", []],
      ["a pattern that looks like an option", { pattern: "--files" }, ".", []],
      ["a file that looks like an option", { pattern: "needle" }, "-weird name.ts", ["-weird name.ts:1:needle"]],
    ] as const)("search: %s", async (_, query, base, lines) => {
      expect(await search(query, base)).toEqual({ lines, truncated: false });
    });

    test("search stops at the limit, cuts long lines and skips binary files", async () => {
      file("many.txt", "hit\n".repeat(10_000));
      expect(await search({ pattern: "hit", limit: 3 })).toEqual({
        lines: ["many.txt:1:hit", "many.txt:2:hit", "many.txt:3:hit"],
        truncated: true,
      });
      file("long.min.js", `longneedle${"x".repeat(100_000)}`);
      file("image.bin", Buffer.from("longneedle\n\0\0\0\n"));
      const { lines } = await search({ pattern: "longneedle" });
      expect(lines).toHaveLength(1);
      expect(lines[0]?.length).toBeLessThan(700);
    });

    test("refuses a pattern that cannot be one", async () => {
      await expect(search({ pattern: "(" })).rejects.toMatchObject({ code: "bad_pattern" });
      await expect(search({ pattern: "a", glob: "{a" })).rejects.toMatchObject({ code: "bad_pattern" });
    });

    test("an abort ends a search with the signal's reason", async () => {
      const reason = new Error("stopped");
      const controller = new AbortController();
      const running = workspace.search(
        { pattern: "needle", caseSensitive: true, output: "content", context: 0, limit: 9, exclude: [] },
        await workspace.resolve("."),
        { signal: controller.signal },
      );
      controller.abort(reason);
      await expect(running).rejects.toBe(reason);
    });
  });

  describe(`${name}: apply`, () => {
    test("creates, updates and deletes, and tells what it did", async () => {
      chmodSync(file("run.sh", "old"), 0o755);
      file("gone", "bye");
      const applied = await workspace.apply([
        await create("new/deep/x.ts", "x"),
        await update("run.sh", "old", "new"),
        await remove("gone", "bye"),
      ]);
      expect(
        applied.map(({ path, operation, before, afterSha256 }) => [
          path.relative,
          operation,
          before?.sha256,
          afterSha256,
        ]),
      ).toEqual([
        ["new/deep/x.ts", "create", undefined, sha256("x")],
        ["run.sh", "update", sha256("old"), sha256("new")],
        ["gone", "delete", sha256("bye"), undefined],
      ]);
      expect(Buffer.from(applied[1]?.before?.bytes ?? []).toString()).toBe("old");
      expect(tree()).toEqual(["new", "new/deep", "new/deep/x.ts", "run.sh"]);
      expect(content("run.sh")).toBe("new");
      expect(statSync(join(directory, "run.sh")).mode & 0o7777).toBe(0o755);
    });

    test("writes bytes as they are", async () => {
      const bytes = Buffer.from("\ufeffa\r\nb\n\0");
      await workspace.apply([{ operation: "create", path: await workspace.resolve("x"), bytes }]);
      expect(readFileSync(join(directory, "x"))).toEqual(bytes);
    });

    test.each([
      ["content changed", "update", (path: string) => writeFileSync(path, "other")],
      ["same size and time, other content", "update", (path: string) => sameStamp(path, "ase!")],
      ["CRLF came in", "update", (path: string) => writeFileSync(path, "base\r\n")],
      ["deleted", "update", (path: string) => rmSync(path)],
      ["its directory deleted", "update", (path: string) => rmSync(join(path, ".."), { recursive: true })],
      ["content changed", "delete", (path: string) => writeFileSync(path, "other")],
      ["deleted", "delete", (path: string) => rmSync(path)],
      [
        "replaced by another file",
        "update",
        (path: string) => {
          writeFileSync(`${path}.2`, "b2");
          renameSync(`${path}.2`, path);
        },
      ],
      [
        "replaced by a link",
        "update",
        (path: string) => {
          rmSync(path);
          symlinkSync("/etc/hosts", path);
        },
      ],
    ] as const)("%s: %s is stale", async (_, operation, meddle) => {
      file("dir/x", "base");
      const change = operation === "update" ? await update("dir/x", "base", "mine") : await remove("dir/x", "base");
      meddle(join(directory, "dir/x"));
      const before = tree();
      const failure = await workspace.apply([change]).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ToolFailure);
      expect(failure).toMatchObject({
        code: "stale_file",
        retryable: true,
        message: expect.stringMatching(/^Stale File: dir\/x/),
      });
      expect(tree()).toEqual(before);
    });

    test("a create never replaces what somebody else made", async () => {
      const change = await create("x", "mine");
      file("x", "theirs");
      await expect(workspace.apply([change])).rejects.toMatchObject({ code: "stale_file" });
      expect(content("x")).toBe("theirs");
      rmSync(join(directory, "x"));
      symlinkSync(join(fixture.outside, "x"), join(directory, "x"));
      await expect(workspace.apply([change])).rejects.toMatchObject({ code: "stale_file" });
      expect(readdirSync(fixture.outside)).toEqual([]);
      await expect(workspace.apply([await create(".", "")])).rejects.toMatchObject({ code: "not_a_file" });
    });

    test("a base of another file, and two changes of one file, are refused", async () => {
      file("x", "x");
      file("y", "y");
      await expect(workspace.apply([await update("x", "y", "z")])).rejects.toMatchObject({ code: "stale_file" });
      await expect(workspace.apply([await update("x", "x", "1"), await update("x", "1", "2")])).rejects.toMatchObject({
        code: "duplicate_change",
      });
      expect(content("x")).toBe("x");
    });

    test("its own write is the base of the next", async () => {
      const [first] = await workspace.apply([await create("x", "1")]);
      const path = await workspace.resolve("x");
      await workspace.apply([
        { operation: "update", path, bytes: Buffer.from("2"), baseSha256: first?.afterSha256 ?? "" },
      ]);
      expect(content("x")).toBe("2");
    });

    test("all or nothing: one stale file and no other is touched", async () => {
      file("a", "a");
      file("b", "b");
      file("c", "c");
      const changes = [
        await update("a", "a", "A"),
        await remove("b", "b"),
        await create("new/d", "d"),
        await update("c", "stale", "C"),
      ];
      await expect(workspace.apply(changes)).rejects.toMatchObject({ code: "stale_file" });
      expect(tree()).toEqual(["a", "b", "c"]);
      expect([content("a"), content("b"), content("c")]).toEqual(["a", "b", "c"]);
    });

    test("all or nothing: what was already applied is taken back", async () => {
      chmodSync(file("a", "a"), 0o640);
      file("b", "b");
      // The second create needs a directory where the first one puts a file.
      const changes = [
        await update("a", "a", "A"),
        await remove("b", "b"),
        await create("d", "d"),
        await create("d/e", "e"),
      ];
      await expect(workspace.apply(changes)).rejects.toBeInstanceOf(ToolFailure);
      expect(tree()).toEqual(["a", "b"]);
      expect([content("a"), content("b")]).toEqual(["a", "b"]);
      expect(statSync(join(directory, "a")).mode & 0o777).toBe(0o640);
    });

    test("a hard link elsewhere keeps its content", async () => {
      const outside = join(fixture.outside, "kept");
      writeFileSync(outside, "kept");
      linkSync(outside, join(directory, "x"));
      await workspace.apply([await update("x", "kept", "changed")]);
      expect(readFileSync(outside, "utf8")).toBe("kept");
      expect(content("x")).toBe("changed");
    });

    test("of a hundred writers with the same base exactly one wins, every time", async () => {
      file("x", "0");
      for (let round = 0; round < 5; round += 1) {
        const before = content("x");
        const changes = await Promise.all(
          Array.from({ length: 100 }, (_, writer) => update("x", before, `${round}-${writer}`)),
        );
        const results = await Promise.allSettled(changes.map((change) => workspace.apply([change])));
        const winners = results.flatMap((result, writer) => (result.status === "fulfilled" ? [writer] : []));
        expect(winners).toHaveLength(1);
        expect(content("x")).toBe(`${round}-${winners[0]}`);
        for (const result of results) {
          if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "stale_file" });
        }
      }
      expect(tree()).toEqual(["x"]);
    });

    test("of many creators of one file exactly one wins", async () => {
      const changes = await Promise.all(Array.from({ length: 20 }, (_, writer) => create("deep/er/x", `${writer}`)));
      const results = await Promise.allSettled(changes.map((change) => workspace.apply([change])));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(tree()).toEqual(["deep", "deep/er", "deep/er/x"]);
    });

    test("does nothing for no changes", async () => {
      expect(await workspace.apply([])).toEqual([]);
    });
  });

  describe(`${name}: the root`, () => {
    test("another directory or a link at its path is noticed", async () => {
      file("x", "x");
      const path = await workspace.resolve("x");
      const change = await update("x", "x", "y");
      renameSync(directory, `${directory}-moved`);
      for (const replace of [
        () => undefined,
        () => symlinkSync(fixture.outside, directory),
        () => {
          rmSync(directory);
          mkdirSync(directory);
        },
      ]) {
        replace();
        const refused = { code: "workspace_replaced", failureClass: "permission_denied" };
        await expect(workspace.resolve("x")).rejects.toMatchObject(refused);
        await expect(workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject(refused);
        await expect(workspace.apply([change])).rejects.toMatchObject(refused);
        await expect(workspace.list({ ...path, relative: "" }, { ignore: [], limit: 1 })).rejects.toMatchObject(
          refused,
        );
        await expect(workspace.glob("*", { ...path, relative: "" }, { limit: 1, signal })).rejects.toMatchObject(
          refused,
        );
      }
      expect(existsSync(join(directory, "x"))).toBe(false);
      rmSync(directory, { recursive: true });
      renameSync(`${directory}-moved`, directory);
      expect(await workspace.read(path, { maxBytes: 9 })).toMatchObject({ sha256: sha256("x") });
    });
  });
}

function sameStamp(path: string, text: string): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(path, text);
  utimesSync(path, atime, mtime);
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
