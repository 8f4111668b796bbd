import { expect, test } from "vitest";
import { attachmentLimit, DraftAttachments } from "#control/draft-attachments";

test("what goes along stands behind the prompt, each in a fence that it cannot end", () => {
  const attachments = new DraftAttachments();
  expect(attachments.behind("Why?")).toBe("Why?");
  attachments.add("Selected in the terminal\nbash", "a\n~~~\nb\n");
  attachments.add("Failed test adds", "1 is not 2");
  expect(attachments.behind("Why?")).toBe(
    "Why?\n\n~~~~ Selected in the terminal bash\na\n~~~\nb\n~~~~\n\n~~~ Failed test adds\n1 is not 2\n~~~",
  );
  const [first] = attachments.list.value;
  attachments.remove(first?.id ?? "");
  expect(attachments.behind("")).toBe("~~~ Failed test adds\n1 is not 2\n~~~");
  attachments.clear();
  expect(attachments.behind("Why?")).toBe("Why?");
});

test("of a long output the end goes along, and the prompt says so", () => {
  const attachments = new DraftAttachments();
  attachments.add("Terminal", `${"x".repeat(attachmentLimit)}the end`);
  const text = attachments.behind("");
  expect(text).toContain(`Terminal (the last ${attachmentLimit} of ${attachmentLimit + 7} characters)`);
  expect(text.endsWith("the end\n~~~")).toBe(true);
});
