import { expect, test } from "vitest";
import { lostWrites } from "#tools/commands/lost-writes";

test("what is written outside the workspace is lost, but for the temporary directory and devices", () => {
  const written = (raw: string, absolute = raw) => ({ raw, absolute, access: "write" as const });
  const paths = [
    written("~/notes.txt", "/home/you/notes.txt"),
    written("~/notes.txt", "/home/you/notes.txt"),
    written("../beside", "/beside"),
    written("src/a.ts", "/ws/src/a.ts"),
    written("/tmp/out"),
    written("/dev/null"),
    { raw: "~/read.txt", absolute: "/home/you/read.txt", access: "read" as const },
  ];
  expect(lostWrites({ paths }, "/ws")).toEqual(["~/notes.txt", "../beside"]);
});
