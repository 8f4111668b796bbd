import { expect, test } from "vitest";
import { toolSubject } from "#chat/items/tool-words";

test.each([
  ["a command", '{"command":"npm test\\nnpm run x","description":"d"}', "npm test"],
  ["a file", '{"file_path":"a.ts","old_string":"x"}', "a.ts"],
  ["a move, by both its paths", '{"from":"a.ts","to":"lib/a.ts"}', "a.ts → lib/a.ts"],
  ["a move that is still written", '{"from":"a.ts","to":"lib/a.ts"', "a.ts → lib/a.ts"],
  ["what no argument tells", "{}", ""],
])("%s", (_name, argumentsJson, subject) => expect(toolSubject({ argumentsJson })).toBe(subject));
