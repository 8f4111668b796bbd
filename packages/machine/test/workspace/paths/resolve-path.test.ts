import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { resolvePath } from "#workspace/paths/resolve-path";

// The rows for single cases are in the conformance suite; here is what holds for every input.
const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-resolve-")));
const root = join(top, "ws");
mkdirSync(join(root, "dir/deep"), { recursive: true });
mkdirSync(join(top, "outside"));
writeFileSync(join(root, "file"), "");
const links = {
  in: "dir/deep",
  out: "../outside",
  up: "..",
  abs: top,
  loop: "loop",
  none: "dir/none",
  "dir/back": "../file",
};
for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const component = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(...Object.keys(links), "dir", "deep", "file", "new", "..", ".", "", "ws", "outside"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 5 }) },
);
const written = fc
  .tuple(fc.constantFrom("", "/", `${root}/`, `${top}/`, "./"), fc.array(component, { maxLength: 7 }))
  .map(([start, components]) => start + components.join("/"));

function attempt(raw: string) {
  try {
    return resolvePath(root, raw);
  } catch (error) {
    expect(error).toBeInstanceOf(ToolFailure);
    expect(error).toMatchObject({ code: "bad_path" });
    return undefined;
  }
}

test("every string resolves or is a bad path, to where the system would go", () => {
  fc.assert(
    fc.property(written, (raw) => {
      const path = attempt(raw);
      if (path === undefined) return;
      // Its deepest part that exists is real, and is inside exactly when the path says so.
      let existing = path.absolute;
      for (;;) {
        try {
          expect(realpathSync.native(existing)).toBe(existing);
          break;
        } catch (error) {
          if (!(error instanceof Error && "code" in error)) throw error;
          existing = dirname(existing);
        }
      }
      expect(path.inside).toBe(path.absolute === root || path.absolute.startsWith(`${root}/`));
      expect(path.relative).toBe(path.inside ? path.absolute.slice(root.length + 1) : "");
      expect(path.absolute.split("/")).not.toContain("..");
      if (path.inside) expect(attempt(path.absolute)).toEqual({ ...path, raw: path.absolute });
    }),
    { numRuns: 2000 },
  );
});

test("a recorded name is that name, in whichever Unicode form another one is there", () => {
  writeFileSync(join(root, "dir/cafe\u0301"), "");
  expect(resolvePath(root, "dir/caf\u00e9").relative).toBe("dir/cafe\u0301");
  expect(resolvePath(root, "dir/caf\u00e9", { isRecorded: true }).relative).toBe("dir/caf\u00e9");
});

test("what the system can open, resolves to the same file", () => {
  fc.assert(
    fc.property(written, (raw) => {
      let real: string;
      try {
        real = realpathSync.native(raw.startsWith("/") ? raw : `${root}/${raw}`);
      } catch {
        return;
      }
      const path = attempt(raw);
      if (path !== undefined) expect(path.absolute).toBe(real);
    }),
    { numRuns: 2000 },
  );
});

test.skipIf(process.platform === "win32").each(["back\\slash", "a:b.txt"])(
  "a name that Windows reads differently is used where it exists: %s",
  (raw) => {
    expect(() => resolvePath(root, raw)).toThrow(ToolFailure);
    writeFileSync(join(root, raw), "");
    expect(resolvePath(root, raw)).toMatchObject({ relative: raw, inside: true });
    rmSync(join(root, raw));
    expect(resolvePath(root, raw, { isRecorded: true })).toMatchObject({ relative: raw, inside: true });
  },
);
