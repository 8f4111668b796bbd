import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { type OpenWorkspace, useWorkspace } from "./use-workspace.ts";

/** Which paths are refused, and where the others lead. */
export function describeResolve(open: OpenWorkspace): void {
  const at = useWorkspace(open);

  describe(`resolve`, () => {
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
      await expect(at.workspace.resolve(raw)).rejects.toMatchObject({ code: "bad_path" });
    });

    const [composed, apart] = ["src/caf\u00e9.ts", "src/cafe\u0301.ts"];
    test.each([
      ["one is there", [apart], composed, apart],
      [
        "one is there, below a directory of two forms",
        ["caf\u00e9/a", "cafe\u0301/cafe\u0301"],
        "cafe\u0301/caf\u00e9",
        "cafe\u0301/cafe\u0301",
      ],
      ["both are there", [apart, composed], composed, composed],
      ["none is there", [], composed, composed],
    ])("a name in another Unicode form, where %s", async (_, there, raw, relative) => {
      for (const path of there) at.file(path, "a");
      expect(await at.workspace.resolve(raw)).toMatchObject({ relative, inside: true });
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
      at.file("src/a.ts", "a");
      symlinkSync("src/a.ts", join(at.directory, "link.ts"));
      symlinkSync(join(at.directory, "src"), join(at.directory, "linked"));
      symlinkSync("src/nothing", join(at.directory, "dangling"));
      const written = raw.replace("{name}", at.directory.split("/").at(-1) ?? "");
      if (relative === undefined) {
        await expect(at.workspace.resolve(written)).rejects.toMatchObject({ code: "bad_path" });
        return;
      }
      const absolute = relative === "" ? at.workspace.root : `${at.workspace.root}/${relative}`;
      expect(await at.workspace.resolve(written)).toEqual({ raw: written, relative, absolute, inside: true });
      expect(await at.workspace.resolve(absolute)).toEqual({ raw: absolute, relative, absolute, inside: true });
    });

    test.each(["aux.c", "src/nul/con.py", "end.", "blank ", "http:/x", "src/a.ts::$DATA"])(
      "a name that nothing new may have is used where it exists: %s",
      async (raw) => {
        await expect(at.workspace.resolve(raw)).rejects.toMatchObject({ code: "bad_path" });
        at.file(raw, "x");
        const path = await at.workspace.resolve(raw);
        expect(path).toMatchObject({ relative: raw, inside: true });
        const { bytes } = await at.workspace.read(path, { maxBytes: 10 });
        expect(Buffer.from(bytes).toString()).toBe("x");
        await expect(at.workspace.resolve(`${raw}.d/COM1`)).rejects.toMatchObject({ code: "bad_path" });
      },
    );

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
      at.file("src/a.ts", "a");
      symlinkSync(at.outside, join(at.directory, "out"));
      symlinkSync("../out", join(at.directory, "src/out"));
      symlinkSync(join(at.outside, "nothing"), join(at.directory, "dangling"));
      symlinkSync("/proc", join(at.directory, "proc"));
      const name = at.workspace.root.split("/").at(-1) ?? "";
      const path = await at.workspace.resolve(raw.replace("{root}", at.workspace.root).replace("{name}", name));
      expect(path).toMatchObject({ inside: false, relative: "" });
      await expect(at.workspace.read(path, { maxBytes: 10 })).rejects.toMatchObject({ code: "outside_workspace" });
      await expect(at.workspace.apply([{ operation: "create", path, bytes: new Uint8Array() }])).rejects.toMatchObject({
        code: "outside_workspace",
        failureClass: "permission_denied",
      });
      expect(readdirSync(at.outside)).toEqual([]);
    });

    test("refuses a loop of links, and a path below a file", async () => {
      symlinkSync("loop", join(at.directory, "loop"));
      symlinkSync("two", join(at.directory, "one"));
      symlinkSync("one", join(at.directory, "two"));
      at.file("file", "");
      for (const raw of ["loop", "loop/x", "one", "file/x", "file/..", "file/x/y"]) {
        await expect(at.workspace.resolve(raw)).rejects.toMatchObject({ code: "bad_path" });
      }
    });

    test("refuses a link that leads to a name nobody could see", async () => {
      symlinkSync("src/a\u001b[2Jb", join(at.directory, "innocent"));
      await expect(at.workspace.resolve("innocent")).rejects.toMatchObject({ code: "bad_path" });
    });
  });
}
