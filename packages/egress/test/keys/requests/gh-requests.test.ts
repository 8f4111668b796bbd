import fc from "fast-check";
import { expect, test } from "vitest";
import { changeOf, ghUse, graphqlMeaning } from "#keys/requests/gh-requests";

const api = { root: "/api/v3/", graphql: "/api/graphql" };
const json = { "content-type": "application/json; charset=utf-8" };
const use = (what: string, headers: Readonly<Record<string, string>> = json) => {
  const [method = "", address = ""] = what.split(" ");
  const [path = "", query] = address.split("?");
  return ghUse(api, "token x", { method, path, query: query === undefined ? "" : `?${query}`, headers });
};

test("by method and path: reads go on, changes are read first, all else is refused", () => {
  expect(use("GET /api/v3/repos/me/r/pulls?per_page=30")).toMatchObject({ authorization: "token x" });
  expect(use("GET /api/v3/repos/me/r")?.body).toBeUndefined();
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    expect(use(`${method} /api/v3/repos/me/r`)?.body).toBeDefined();
  expect(use("POST /api/graphql")?.body).toBeDefined();
  for (const what of [
    "GET /api/graphql",
    "POST /api/graphql?x=1",
    "PURGE /api/v3/x",
    "GET /login",
    "POST /session",
    "GET /api/v3",
  ]) {
    expect(use(what), what).toBeUndefined();
  }
  expect(use("POST /api/v3/repos/me/r", { ...json, "content-encoding": "gzip" })).toBeUndefined();
});

test("only what says to be JSON is sent: a server could read the same bytes as a form", () => {
  for (const type of ["application/x-www-form-urlencoded", "application/graphql", "application/json; charset=utf-16"]) {
    expect(use("POST /api/graphql", { "content-type": type }), type).toBeUndefined();
    const body = use("PATCH /api/v3/repos/me/r", { "content-type": type })?.body;
    expect(body?.read(Buffer.from('{"a":"&private=false"}'), true), type).toMatchObject({ type: "refused" });
    expect(body?.read(Buffer.alloc(0), true)).toMatchObject({ type: "writes" });
  }
});

test("a change by path is told with what it sends, and only JSON is sent", () => {
  const what = "POST /repos/me/r/issues";
  expect(changeOf(what, Buffer.from('{"title": "T", "body":"B"}'))).toEqual({
    type: "writes",
    what: `${what} with {"body":"B","title":"T"}`,
    body: Buffer.from('{"body":"B","title":"T"}'),
  });
  expect(changeOf("DELETE /repos/me/r", Buffer.alloc(0))).toEqual({ type: "writes", what: "DELETE /repos/me/r" });
  expect(changeOf(what, Buffer.from("binary"))).toMatchObject({ type: "refused" });
  expect(changeOf(what, Buffer.from(JSON.stringify("x".repeat(10_000))))).toMatchObject({ type: "refused" });
});

const asked = (query: string, more: object = {}) => graphqlMeaning(Buffer.from(JSON.stringify({ query, ...more })));

const documents: readonly (readonly [name: string, query: string, more: object, meaning: string])[] = [
  [
    "a query",
    'query Pulls($owner: String!) { repository(owner: $owner, name: "r") { id } }',
    { variables: { owner: "me" } },
    "reads",
  ],
  ["a query without a name", "{ viewer { login } }", {}, "reads"],
  ["a query with fragments", "query { viewer { ...f } } fragment f on User { login }", {}, "reads"],
  [
    "a mutation, with its variables",
    "mutation Create($input: CreateIssueInput!) { createIssue(input: $input) { issue { id } } }",
    { variables: { input: { title: "T" } } },
    'createIssue(input: $input) with {"input":{"title":"T"}}',
  ],
  [
    "two in one, one under another name, with what stands in the text",
    'mutation { a: closeIssue(input: {issueId: "I"}) { clientMutationId } deleteRef(input: {refId: "R"}) { clientMutationId } }',
    {},
    'closeIssue(input: {issueId: "I"}) and deleteRef(input: {refId: "R"})',
  ],
  [
    "a mutation behind a query",
    "query A { viewer { login } } mutation B { deleteRef(input: {}) { x } }",
    { operationName: "B" },
    "refused",
  ],
  [
    "a mutation in a fragment",
    "mutation { ...f } fragment f on Mutation { deleteRef(input: {}) { x } }",
    {},
    "refused",
  ],
  [
    "a mutation whose variable has a value that is not shown",
    'mutation ($id: ID = "R") { deleteRef(input: { refId: $id }) { x } }',
    {},
    "refused",
  ],
  ["a mutation with a condition", "mutation { deleteRef(input: {}) @skip(if: true) { x } }", {}, "refused"],
  [
    "a text of several lines",
    'mutation { addComment(input: {body: """a\nb"""}) { x } }',
    {},
    'addComment(input: {body: "a\\nb"})',
  ],
  ["a subscription", "subscription { x }", {}, "refused"],
  ["a definition of a type", "type Query { x: Int } query { x }", {}, "refused"],
  ["no GraphQL", "DROP TABLE", {}, "refused"],
  ["a field that nobody knows", "{ viewer { login } }", { extensions: { persistedQuery: {} } }, "refused"],
];

test.each(documents)("GraphQL: %s", (_name, query, more, expected) => {
  const meaning = asked(query, more);
  expect(meaning.type === "writes" ? meaning.what : meaning.type).toBe(expected);
});

test("a query is sent as it was read: servers see other ends of comments and of long texts", () => {
  const sent = (query: string): unknown => {
    const meaning = asked(query);
    if (meaning.type !== "reads") return meaning;
    const { query: whole } = JSON.parse(meaning.body?.toString() ?? "") as { query: string };
    return whole.replaceAll(/\s+/g, " ");
  };
  expect(sent("{ viewer { login } } # mutation { x }")).toBe("{ viewer { login } }");
  // Where a comment goes on behind \r, the text begins later, and a mutation is no text.
  expect(sent('{ a(b: #\r"""\n 1) } mutation { x(b: #\r"""\n) }')).toBe('{ a(b: "1) } mutation { x(b: #") }');
});

test("where a name stands twice, what was read is what is sent", () => {
  const text = '{"query":"{ viewer { login } }","query":"mutation { deleteRef(input: {}) { x } }"}';
  const meaning = graphqlMeaning(Buffer.from(text));
  expect(meaning.type).toBe("writes");
  expect(meaning.type === "writes" && meaning.body?.toString()).not.toContain("viewer");
  const list = graphqlMeaning(Buffer.from('[{"query":"mutation { x }"}]'));
  expect(list.type).toBe("refused");
});

test("property: no text around a mutation makes it a read", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const meaning = asked(`${before} mutation { deleteRepository(input: {}) { x } } ${after}`);
      if (meaning.type !== "reads") return;
      // Then all of it was a comment or a text.
      expect(before + after).toMatch(/#|"/);
    }),
  );
});
