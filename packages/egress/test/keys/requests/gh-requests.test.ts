import fc from "fast-check";
import { expect, test } from "vitest";
import { changeOf, ghUse, graphqlMeaning } from "#keys/requests/gh-requests";

const api = { root: "/api/v3/", graphql: "/api/graphql", repositories: ["me/r"] };
const json = { "content-type": "application/json; charset=utf-8" };
const use = (what: string, headers: Readonly<Record<string, string>> = json) => {
  const [method = "", address = ""] = what.split(" ");
  const [path = "", query] = address.split("?");
  return ghUse(api, "token x", { method, path, query: query === undefined ? "" : `?${query}`, headers });
};

test("by method and path: reads go on, changes are read first, all else is refused", () => {
  expect(use("GET /api/v3/repos/me/r/pulls?per_page=30")).toMatchObject({ authorization: "token x" });
  for (const path of ["repos/me/r", "repos/Me/R/pulls?per_page=30", "user", "", "search/issues?q=x+repo%3Ame%2Fr"]) {
    expect(use(`GET /api/v3/${path}`)?.body, path).toBeUndefined();
  }
  for (const path of [
    ...["repos/me/private", "repos/me/r2", "user/repos", "orgs/a", "search/issues?q=x"],
    "search/issues?q=repo:me/r&q=x",
  ]) {
    const what = `read /api/v3/${path}`;
    expect(use(`GET /api/v3/${path}`)?.body?.read(Buffer.alloc(0), true), path).toEqual({ type: "writes", what });
  }
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    expect(use(`${method} /api/v3/repos/me/r`)?.body).toBeDefined();
  expect(use("POST /api/graphql")?.body).toBeDefined();
  for (const what of [
    ...["GET /api/graphql", "POST /api/graphql?x=1", "PURGE /api/v3/x", "GET /login", "POST /session", "GET /api/v3"],
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

const asked = (query: string, more: object = {}, nodes?: readonly (object | null)[]) => {
  const meaning = graphqlMeaning(Buffer.from(JSON.stringify({ query, ...more })), api);
  if (meaning.type !== "compares") return meaning;
  return meaning.read(nodes && Buffer.from(JSON.stringify({ data: { nodes } })));
};

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
    'mutation { a: closeIssue(input: { issueId: "I" }) { clientMutationId } deleteRef(input: { refId: "R" }) { clientMutationId } }',
    {},
    'closeIssue(input: { issueId: "I" }) and deleteRef(input: { refId: "R" })',
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
    'addComment(input: { body: "a\\nb" })',
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

test.each([
  [
    "by variables, in other letters",
    "query Q($o: String!, $n: String!) { repository(owner: $o, name: $n) { id issues { nodes { body author { login } } } } }",
  ],
  [
    "by its text, beside the viewer",
    '{ viewer { login } repo_000: repository(owner: "me", name: "r") { parent { name owner { login } } } }',
  ],
  ["what a type has", '{ Issue: __type(name: "Issue") { fields(includeDeprecated: true) { name } } }'],
  [
    "a search in it",
    '{ search(query: "is:open repo:me/r type:pr", type: ISSUE, first: 1) { issueCount nodes { ...i } } } fragment i on Issue { body }',
  ],
  [
    "who is asked to look",
    '{ repository(owner: "me", name: "r") { pullRequest(number: 1) { reviewRequests(first: 1) { nodes { requestedReviewer { ... on Team { organization { login } slug } } } } } } }',
  ],
])("of the repository, a query goes on: %s", (_name, query) => {
  expect(asked(query, { variables: { o: "Me", n: "R" } })).toMatchObject({ type: "reads" });
});

test.each([
  ["another repository", '{ repository(owner: "me", name: "private") { id } }'],
  [
    "another one beside it",
    '{ repository(owner: "me", name: "r") { id } x: repository(owner: "a", name: "b") { id } }',
  ],
  ["all of the viewer's", "{ viewer { repositories(first: 9) { nodes { name } } } }"],
  [
    "a name that a variable without a value has",
    'query ($n: String = "private") { repository(owner: "me", name: $n) { id } }',
  ],
  [
    "those of its owner",
    '{ repository(owner: "me", name: "r") { owner { ... on User { repositories { nodes { name } } } } } }',
  ],
  [
    "issues of who wrote one",
    '{ repository(owner: "me", name: "r") { issue(number: 1) { author { ... on User { issues(first: 1) { nodes { body } } } } } } }',
  ],
  [
    "a text elsewhere",
    '{ repository(owner: "me", name: "r") { pullRequest(number: 1) { headRepository { object(expression: "x") { ... on Blob { text } } } } } }',
  ],
  [
    "the same in a fragment",
    '{ repository(owner: "me", name: "r") { ...f } } fragment f on Repository { forks(first: 1) { nodes { name } } }',
  ],
  [
    "a search everywhere",
    '{ search(query: "repo:me/r org:acme", type: ISSUE, first: 1) { nodes { ... on Issue { body } } } }',
  ],
  [
    "a search with an or",
    '{ search(query: "repo:me/r OR x", type: ISSUE, first: 1) { nodes { ... on Issue { body } } } }',
  ],
  [
    "fields without end",
    `{ repository(owner: "me", name: "r") { ...f } } fragment f on Repository { issues { ...g } } fragment g on X { issues { ...f } nodes { ...f } }`,
  ],
])("beyond the repository, a query is asked about: %s", (_name, query) => {
  const meaning = asked(query);
  expect(meaning).toMatchObject({ type: "writes", what: expect.stringMatching(/^read (?:query )?/) as string });
});

test("an object is read where the host says that it is of the repository, and a change says what it changes", () => {
  const checks = "query ($id: ID!) { node(id: $id) { ... on PullRequest { commits { nodes { commit { oid } } } } } }";
  const more = { variables: { id: "PR_1" } };
  const pull = (nameWithOwner: string) => [{ __typename: "PullRequest", number: 1, repository: { nameWithOwner } }];
  expect(asked(checks, more, pull("Me/R"))).toMatchObject({ type: "reads" });
  for (const nodes of [pull("me/private"), [null], [{ __typename: "Gist", name: "me/r" }], undefined]) {
    expect(asked(checks, more, nodes)).toMatchObject({ type: "writes" });
  }
  const close = "mutation M($input: CloseIssueInput!) { closeIssue(input: $input) { issue { id } } }";
  const input = { variables: { input: { issueId: "I_1" } } };
  const issue = [{ __typename: "Issue", number: 7, repository: { nameWithOwner: "me/r" } }];
  const said = 'with {"input":{"issueId":"I_1"}}';
  expect(asked(close, input, issue)).toMatchObject({ what: `closeIssue(input: $input) about Issue 7 of me/r ${said}` });
  expect(asked(close, input)).toMatchObject({ what: `closeIssue(input: $input) ${said}` });
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
  const long = '{ repository(owner: "me", name: "r") { a(b: #\r"""\n 1) } } mutation { x(b: #\r"""\n) } }';
  expect(sent(long)).toBe('{ repository(owner: "me", name: "r") { a(b: "1) } } mutation { x(b: #") } }');
});

test("where a name stands twice, what was read is what is sent", () => {
  const text = '{"query":"{ viewer { login } }","query":"mutation { deleteRef(input: {}) { x } }"}';
  const meaning = graphqlMeaning(Buffer.from(text), api);
  expect(meaning.type).toBe("writes");
  expect(meaning.type === "writes" && meaning.body?.toString()).not.toContain("viewer");
  const list = graphqlMeaning(Buffer.from('[{"query":"mutation { x }"}]'), api);
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
