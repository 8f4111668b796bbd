/** A family of programs and what makes them publish or deploy. */
export interface DeployRule {
  readonly programs: readonly string[];
  /** The verb itself, e.g. `publish`. */
  readonly verb?: RegExp;
  /** A verb after a noun, as in `app deploy`; any operand may be the verb. */
  readonly anyOperand?: RegExp;
  /** What may follow such a word if it only reads, as in `release list`. */
  readonly unless?: RegExp;
  /** A word of any kind that makes it deploy, e.g. `--push`. */
  readonly option?: RegExp;
  /** It deploys if called without operands. */
  readonly bare?: true;
}

function programs(names: string): readonly string[] {
  return names.split(" ");
}

const cloudVerb =
  /^(?:deploy|publish|promote|rollout|release|create|update|delete|remove|put|apply|destroy|set|start|stop|restart|reboot|run|invoke|submit|sync|cp|mv|rm|rb|mb|up|swap|scale|import|attach|detach|terminate|register|replace|patch|rollback|rolling-action|execute|modify|upload|restore|purge|invalidate)(?:$|-)|-(?:deploy|deployment|stack|publish|update)$/;

/** The built-in group `deploy`: what publishes packages or changes what others use in production. */
export const deployRules: readonly DeployRule[] = [
  // Package registries
  {
    programs: programs("npm pnpm yarn bun cnpm tnpm"),
    verb: /^(?:pub|publish|unpub|unpublish|deprecate|dist-tags?|deploy)$/,
  },
  // `yarn npm publish`, `yarn workspace a publish`
  { programs: programs("yarn"), anyOperand: /^(?:publish|unpublish)$/ },
  { programs: programs("cargo"), verb: /^(?:publish|yank|release|workspaces)$/ },
  { programs: programs("gem"), verb: /^(?:push|yank)$/ },
  { programs: programs("twine"), verb: /^(?:upload|register)$/ },
  {
    programs: programs(
      "poetry uv hatch flit pdm maturin vsce ovsx jsr melos dart flutter deno lerna changeset nx rush pod conda mix elm rebar3 luarocks cpan-upload conan vcpkg",
    ),
    anyOperand: /^(?:publish|unpublish|push|upload|release|hex\.publish|hex\.docs)$/,
  },
  {
    programs: programs("mvn mvnw gradle gradlew sbt ant"),
    anyOperand: /(?:^|:)(?:deploy|publish|release)|publish|upload(?:archives)?$/i,
  },
  { programs: programs("dotnet nuget choco paket"), anyOperand: /^(?:push|publish)$/ },
  {
    programs: programs("semantic-release release-it standard-version np gh-pages surge bumpp changelogithub"),
    bare: true,
    verb: /./,
  },
  {
    programs: programs("goreleaser jreleaser cargo-release"),
    verb: /^(?:release|publish|full-release|deploy|upload)$/,
  },
  // Images
  {
    programs: programs("docker podman nerdctl buildah crane skopeo oras regctl img kaniko ko jib"),
    verb: /^(?:push|copy|cp|deploy|publish|apply|resolve|sync)$/,
    anyOperand: /^(?:push|deploy|bake)$/,
    option: /^--push(?:=true)?$|^(?:-o|--output=?).*\bpush=true|^type=registry/,
  },
  { programs: programs("docker-compose podman-compose"), verb: /^push$/ },
  { programs: programs("docker"), anyOperand: /^(?:stack|service|swarm)$/ },
  // Clusters
  {
    programs: programs("kubectl oc k kubecolor k3s microk8s minikube k0s"),
    anyOperand:
      /^(?:apply|create|delete|replace|patch|edit|scale|rollout|set|label|annotate|expose|autoscale|drain|cordon|uncordon|taint|run|exec|cp|debug|rsh|new-app|start-build|deploy)$/,
  },
  { programs: programs("helm"), verb: /^(?:install|upgrade|uninstall|delete|rollback|push|un)$/ },
  { programs: programs("helmfile"), verb: /^(?:apply|sync|destroy|delete)$/ },
  { programs: programs("kustomize kapp kpt ytt tanka tk"), anyOperand: /^(?:apply|deploy|live|delete)$/ },
  {
    programs: programs("argocd flux argo tkn rancher istioctl linkerd"),
    anyOperand:
      /^(?:sync|rollback|set|create|delete|patch|upsert|reconcile|bootstrap|install|uninstall|upgrade|submit|start|apply)$/,
  },
  {
    programs: programs("skaffold tilt garden devspace werf okteto draft"),
    verb: /^(?:run|deploy|apply|up|converge|delete|dev|purge)$/,
  },
  { programs: programs("nomad"), anyOperand: /^(?:run|stop|deployment|revert|promote|dispatch)$/ },
  // Infrastructure
  {
    programs: programs("terraform tofu terragrunt terramate tfx cdktf"),
    anyOperand: /^(?:apply|destroy|import|deploy|run-all|apply-all|destroy-all|state|taint|untaint|force-unlock)$/,
  },
  { programs: programs("pulumi"), verb: /^(?:up|update|destroy|import|refresh|cancel|state|deployment)$/ },
  { programs: programs("cdk cdk8s"), verb: /^(?:deploy|destroy|bootstrap|import|rollback|watch)$/ },
  {
    programs: programs(
      "ansible ansible-playbook ansible-pull ansible-console mitogen salt salt-call salt-ssh puppet chef chef-client knife pyinfra",
    ),
    bare: true,
    verb: /./,
  },
  {
    programs: programs("serverless sls sst sam chalice zappa up apex arc claudia architect copilot amplify osls"),
    anyOperand: /^(?:deploy|remove|rollback|publish|push|sync|promote|up|update|undeploy|delete)$/,
  },
  {
    programs: programs("crossplane packer nixos-rebuild nixops colmena deploy-rs morph waypoint boundary"),
    anyOperand: /^(?:apply|build|switch|deploy|install|up|release|push)$/,
  },
  // Clouds
  { programs: programs("aws"), anyOperand: cloudVerb },
  {
    programs: programs(
      "gcloud gsutil bq az doctl ibmcloud oci aliyun linode-cli hcloud scw exo openstack civo vultr-cli s3cmd rclone azcopy",
    ),
    anyOperand: cloudVerb,
  },
  {
    programs: programs("eb cf kf apps koyeb platform upsun clever scalingo"),
    anyOperand: /^(?:deploy|push|create|terminate|upgrade|swap|clone|scale|restart|redeploy|delete)/,
  },
  // Platforms
  {
    programs: programs("vercel vc now"),
    bare: true,
    anyOperand: /^(?:deploy|promote|rollback|redeploy|alias|remove|rm|env|domains)$/,
    option: /^--prod(?:uction)?$/,
  },
  {
    programs: programs("netlify ntl"),
    anyOperand: /^(?:deploy|build|env:set|env:unset|sites:delete)$|^deploy/,
    option: /^--prod(?:uction)?$/,
  },
  {
    programs: programs("fly flyctl"),
    anyOperand: /^(?:deploy|launch|scale|secrets|apps?|machines?|destroy|restart|import)$/,
  },
  {
    programs: programs("wrangler"),
    anyOperand: /^(?:deploy|publish|delete|rollback|secret|versions|triggers|put|upload|execute|apply)$/,
  },
  {
    programs: programs("heroku"),
    anyOperand:
      /(?:^|:)(?:push|promote|release|rollback|restart|scale|set|unset|destroy|deploy|create|run|rebuild)$|^run/,
  },
  {
    programs: programs(
      "firebase render railway supabase convex expo eas fastlane shorebird dokku kamal cap mina shipit dpl deployctl edgio stormkit zeit appcenter hosting ember-cli-deploy genezio encore nhost appwrite modal porter northflank coolify caprover dokploy",
    ),
    anyOperand:
      /deploy|publish|promote|release|submit|rollout|^(?:up|push|update|launch|ship|redeploy|rollback|setup|apps)$|:(?:create|destroy|set)$/,
  },
  // Releases on forges
  {
    programs: programs("gh glab hub tea"),
    anyOperand: /^(?:release|workflow|run|deployment)$/,
    unless: /^(?:list|ls|view|watch|download|status|verify|verify-asset)$/,
  },
  {
    programs: programs("prisma drizzle-kit sequelize knex flyway liquibase alembic atlas"),
    anyOperand: /^(?:deploy|migrate|upgrade|update|push|apply)$/,
  },
];

/** Names of remotes that build and run what is pushed to them. */
export const deployRemote = /^(?:heroku|dokku|piku|clever|scalingo|prod|production|live|deploy|deployment)$/i;

/** Words that mark a script or tool as one that deploys. */
export const deployWord =
  /^(?:deploy(?:s|er|ment|ments)?|undeploy|redeploy|publish(?:er)?|release(?:s|r)?|rollout|rollback|promote|ship(?:it)?)$/;

/** Programs whose first operands name a script, a task or a target of the project. */
export const taskRunners: ReadonlySet<string> = new Set(
  programs(
    "npm pnpm yarn bun deno make gmake just task rake gulp grunt nx turbo lerna rush moon mage invoke inv fab nox tox poe pdm hatch ant mvn gradle gradlew composer mix lein sbt bazel buck2 pants earthly dagger ninja cmake wireit run-s run-p npm-run-all concurrently",
  ),
);

/** Programs that run the program named by their words: packages on demand, environments, other machines. */
export const programRunners: ReadonlySet<string> = new Set(
  programs(
    "npx npm pnpm pnpx yarn bunx bun uvx uv pipx poetry pipenv pdm hatch rye conda mamba bundle python python2 python3 py dotenv dotenvx cross-env env-cmd doppler op infisical aws-vault aws-okta saml2aws chamber direnv mise asdf rtx nix nix-shell devbox devenv docker podman nerdctl docker-compose kubectl ssh autossh mosh sshpass wsl start nodemon entr watchexec concurrently act vagrant multipass lima limactl distrobox toolbox corepack volta fnm nvm proto java",
  ),
);

/** Interpreters: their code, or the script they are given, may start anything. */
export const interpreters =
  /^(?:python[\d.]*|py|node|nodejs|deno|bun|ruby|perl|php|lua|tclsh|osascript|pwsh|powershell|tsx|ts-node|groovy|rscript|awk|gawk|mawk|bash|sh|zsh|dash|ksh|fish|source|\.)$/;
