import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makePackages } from "../../release/make-release.ts";
import { sourceState } from "../../release/source-state.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const guide = readFileSync(new URL("../../docs/guides/write-a-client.md", import.meta.url), "utf8");
const examples = new Map(
  [...guide.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```/gm)].map(([, name = "", text = ""]) => [name, text]),
);
const run = promisify(execFile);

/** A project of a stranger: nothing in it but the packed client, and the examples of its guide. */
describe("the packed client in a project of its own", () => {
  let project: TemporaryRepository;
  let state: Awaited<ReturnType<typeof temporaryDirectory>>;
  let environment: NodeJS.ProcessEnv;

  beforeAll(async () => {
    state = await temporaryDirectory();
    project = await temporaryRepository({
      "package.json": '{ "name": "stranger", "private": true, "type": "module" }\n',
      ".gitignore": "node_modules\n",
      "src/a.js": "// colour\n",
      "NOTES.md": "notes\n",
      ...Object.fromEntries(examples),
    });
    const files = await makePackages(root, sourceState(root), state.root);
    const client = files.find((file) => basename(file).startsWith("gennai-client-")) ?? "";
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--no-save", client], { cwd: project.root });
    // The command as it is installed: found by its name.
    const bin = join(state.root, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, "gennai"),
      `#!/bin/sh\nexec "${process.execPath}" "${join(root, "packages/cli/src/main.ts")}" "$@"\n`,
    );
    chmodSync(join(bin, "gennai"), 0o755);
    environment = {
      ...process.env,
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      GENNAI_STATE_DIR: join(state.root, "state"),
    };
  });

  afterAll(async () => {
    await project[Symbol.asyncDispose]();
    await state[Symbol.asyncDispose]();
  });

  const program = (name: string, ...args: readonly string[]) =>
    run(process.execPath, [name, ...args], { cwd: project.root, env: environment });

  it("has declarations that stand by themselves, for Node and for a page", async () => {
    const options = {
      target: "ES2024",
      lib: ["ES2024", "ESNext.Disposable", "DOM"],
      strict: true,
      noEmit: true,
    };
    const forNode = { ...options, module: "nodenext", types: ["node"], typeRoots: [join(root, "node_modules/@types")] };
    const forPages = {
      ...options,
      module: "esnext",
      moduleResolution: "bundler",
      types: [],
      exactOptionalPropertyTypes: true,
    };
    const scripts = [...examples.keys()].filter((name) => name !== "page.ts");
    writeFileSync(project.path("tsconfig.json"), JSON.stringify({ compilerOptions: forNode, files: scripts }));
    writeFileSync(
      project.path("tsconfig.page.json"),
      JSON.stringify({ compilerOptions: forPages, files: ["page.ts"] }),
    );
    const tsc = join(root, "node_modules/.bin/tsc");
    for (const config of ["tsconfig.json", "tsconfig.page.json"]) {
      const { stdout } = await run(tsc, ["-p", config], { cwd: project.root }).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).toBe("");
    }
  });

  it("changes files by a request, and its session is gone on with", async () => {
    const { stdout } = await program("rename.ts");
    expect(stdout).toMatch(/Grep \{\s+pattern: 'colour'/);
    expect(stdout).toContain("[ 'src/a.js' ]");
    expect(await project.read("src/a.js")).toBe("// color\n");
    const [sessionId = ""] = stdout.split("\n");
    const again = await program("resume.ts", sessionId);
    expect(again.stdout).toMatch(/ call\n[^]* files\n[^]* end\n$/);
  });

  it("writes of a proposal what the program keeps", async () => {
    const { stdout } = await program("review.ts");
    expect(stdout).toContain("kept [ 'NOTES.md' ]");
    expect(await project.read("NOTES.md")).toBe("notes\nthanks\n");
    expect(await project.read("package.json")).not.toContain("thanks");
  });

  it("says by a code why something failed", async () => {
    const failed = await program("resume.ts", "00000000-0000-4000-8000-000000000000").catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 2, stderr: expect.stringMatching(/^not_found /) });
  });

  it("brings the licences of what it bundles", () => {
    expect(readFileSync(project.path("node_modules/@gennai/client/THIRD_PARTY_LICENSES"), "utf8")).toContain(
      "@connectrpc/connect",
    );
  });
});
