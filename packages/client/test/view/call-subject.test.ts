import { expect, test } from "vitest";
import { callSubject } from "#view/call-subject";

test.each([
  ["a command", '{"command":"npm test\\nnpm run x","description":"d"}', "npm test npm run x"],
  ["what is looked for, rather than where", '{"path":"src","pattern":"x"}', "x"],
  ["the first question", '{"questions":[{"question":"Which name?","options":[]},{"question":"Why?"}]}', "Which name?"],
  [
    "how much is done",
    '{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}',
    "1/2 done",
  ],
  ["a number of changes", '{"changes":[{},{}]}', "2 changes"],
  ["nothing of what is no text", '{"command":7}', ""],
  ["nothing of what is no object", "null", ""],
  ["a file", '{"file_path":"a.ts","old_string":"x"}', "a.ts"],
  ["a move, by both its paths", '{"from":"a.ts","to":"lib/a.ts"}', "a.ts → lib/a.ts"],
  ["a move that is still written", '{"from":"a.ts","to":"lib/a.ts"', "a.ts → lib/a.ts"],
  ["what no argument tells", "{}", ""],
])("%s", (_name, argumentsJson, subject) => expect(callSubject(argumentsJson)).toBe(subject));
