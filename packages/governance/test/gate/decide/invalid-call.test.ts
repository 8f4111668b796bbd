import { expect, test } from "vitest";
import { unknownTool } from "#gate/decide/parse-arguments";

test.each([
  [
    "WebFetch",
    "Pages are read once the user lists their hosts in web.json of Gennai's configuration directory. Tools: none.",
  ],
  [
    "WebSearch",
    "There is a search once the user sets BRAVE_API_KEY, EXA_API_KEY or TAVILY_API_KEY, or names a provider in web.json. Tools: none.",
  ],
  ["Teleport", "Tools: none."],
])("of %s that is not there, its refusal says what the user can do", (name, hint) => {
  expect(unknownTool({ id: "1", name, argumentsJson: "{}" }, new Map()).error).toMatchObject({
    code: "unknown_tool",
    hint,
  });
});
