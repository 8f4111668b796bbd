import { expect, test } from "vitest";
import { ConnectionBook } from "#network/connection-book";

test("what was refused many times hides nothing that was let through, nor what went there", () => {
  const book = new ConnectionBook();
  for (let port = 1; port <= 5000; port += 1) {
    book.note({ host: "x.example", port, state: "refused" });
    book.note({ host: "127.0.0.1", port, state: "failed" });
  }
  book.note({ host: "good.example", port: 443, state: "allowed", address: "93.184.216.34" }).add(9_000_000, 5);
  for (let at = 0; at < 5000; at += 1) {
    const address = `93.184.${at >> 8}.${at & 255}`;
    book.note({ host: "other.example", port: 443, state: "allowed", address }).add(1, 1);
  }
  const allowed = book.list().filter(({ state }) => state === "allowed");
  expect(allowed).toContainEqual(expect.objectContaining({ host: "good.example", count: 1, sent: 9_000_000 }));
  const others = allowed.filter(({ host }) => host === "other.example");
  expect(others.reduce((sum, { count, sent }) => sum + count + sent, 0)).toBe(10_000);
  expect(book.list().length).toBeLessThanOrEqual(600);
});
