import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";

/** What a query may read without a question. */
export type QueryBounds =
  | { readonly type: "within" }
  /** Where the host says that these objects are in the repositories. */
  | { readonly type: "objects"; readonly ids: readonly string[] }
  | { readonly type: "beyond" };

interface Query {
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Whether a query reads nothing beyond some repositories and the names of people, by the fields that lead from one object to
 * another. A field that is not known leads beyond.
 *
 * @param repositories `owner/name`, in lower case
 */
export function queryBounds(query: Query, repositories: readonly string[]): QueryBounds {
  const { fragments, variables } = query;
  const valueOf = (field: FieldNode, name: string): string | undefined => {
    const value = field.arguments?.find((one) => one.name.value === name)?.value;
    return textOf(value, variables);
  };
  // A fragment can stand in itself, or many times in others.
  let left = maxFields;
  const fieldsOf = (set: SelectionSetNode | undefined): readonly FieldNode[] =>
    (set?.selections ?? []).flatMap((one) => {
      if ((left -= 1) < 0) return [];
      if (one.kind === Kind.FIELD) return [one];
      if (one.kind === Kind.INLINE_FRAGMENT) return fieldsOf(one.selectionSet);
      return fieldsOf(fragments.find(({ name }) => name.value === one.name.value)?.selectionSet);
    });
  const isNamed = (field: FieldNode): boolean =>
    fieldsOf(field.selectionSet).every((one) =>
      one.selectionSet === undefined ? telling.test(one.name.value) : named.has(one.name.value) && isNamed(one),
    );
  const isInside = (field: FieldNode): boolean =>
    fieldsOf(field.selectionSet).every((one) => {
      const { value: name } = one.name;
      return one.selectionSet === undefined || (inside.has(name) ? isInside(one) : named.has(name) && isNamed(one));
    });
  const ids: string[] = [];
  const isWithin = (field: FieldNode): boolean => {
    switch (field.name.value) {
      case "__type":
      case "__schema":
      case "__typename":
      case "rateLimit":
        return true;
      case "viewer":
      case "user":
        return isNamed(field);
      case "repository": {
        const whole = `${valueOf(field, "owner")}/${valueOf(field, "name")}`.toLowerCase();
        return repositories.includes(whole) && isInside(field);
      }
      case "search":
        return isSearchIn(valueOf(field, "query") ?? "", repositories) && isInside(field);
      case "node": {
        const id = valueOf(field, "id");
        if (id !== undefined) ids.push(id);
        return id !== undefined && isInside(field);
      }
      default:
        return false;
    }
  };
  const roots = fieldsOf(query.operation.selectionSet);
  if (!roots.every(isWithin) || left < 0) return { type: "beyond" };
  return ids.length === 0 ? { type: "within" } : { type: "objects", ids };
}

const maxFields = 5_000;

/** True for a search whose one word about where to search names one of the repositories. */
export function isSearchIn(text: string, repositories: readonly string[]): boolean {
  const places = text.toLowerCase().match(/(?:repo|org|user|owner|enterprise):/g) ?? [];
  const [, named = ""] = /(?:^| )repo:([\w./-]+)(?: |$)/i.exec(text) ?? [];
  return places.length === 1 && repositories.includes(named.toLowerCase()) && !/[()"]|\bOR\b/i.test(text);
}

function textOf(value: ValueNode | undefined, variables: Query["variables"]): string | undefined {
  if (value?.kind === Kind.STRING) return value.value;
  const given = value?.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return typeof given === "string" ? given : undefined;
}

/** Fields that stay in a repository. */
const inside: ReadonlySet<string> = new Set(
  [
    "nodes edges node pageInfo labels label milestone milestones comments comment reactionGroups reviews latestReviews",
    "latestOpinionatedReviews reviewThreads commits commit statusCheckRollup contexts checkSuite workflowRun workflow files",
    "baseRef headRef ref refs target object entries branchProtectionRule mergeCommit potentialMergeCommit linkedBranches",
    "issue issues issueOrPullRequest pullRequest pullRequests release releases latestRelease releaseAssets languages",
    "primaryLanguage language licenseInfo codeOfConduct repositoryTopics topic issueTemplates pullRequestTemplates contactLinks",
    "fundingLinks defaultBranchRef autoMergeRequest discussion discussions category discussionCategories history",
    "checkRunCountsByState statusContextCountsByState projectCards column",
  ].flatMap((line) => line.split(" ")),
);

/** Fields that lead to people and elsewhere, of which only names are read; and those within these. */
const named: ReadonlySet<string> = new Set(
  [
    "nodes edges node pageInfo owner parent author authors user users assignees assignableUsers mentionableUsers watchers",
    "stargazers reviewRequests requestedReviewer organization headRepository headRepositoryOwner repository mergedBy enabledBy",
    "closedBy creator defaultBranchRef templateRepository project projects projectItems projectsV2 actor assignedActors",
    "suggestedActors collaborators participants",
  ].flatMap((line) => line.split(" ")),
);

const telling =
  /^(?:__typename|id|login|name|nameWithOwner|url|slug|number|title|state|oid|email|description|totalCount|databaseId|key|color|endCursor|startCursor|createdAt|updatedAt|(?:is|has|viewer)[A-Z]\w*|\w+(?:Allowed|Enabled))$/;
