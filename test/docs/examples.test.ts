import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { pages } from "./pages.ts";
import { stories, testStories } from "./story-tests.ts";

testStories(2);

test.each(stories)("%s has a page that says how to run it, and stands in the list", (story) => {
  const page = `${dirname(story)}/README.md`;
  expect(pages.get(page)?.blocks.map(({ text }) => text)).toContain(`node ${story}\n`);
  const list = pages.get("examples/README.md")?.links.map(({ target }) => join("examples", target));
  expect(list).toContain(page);
});
