import type { DangerRow, DeployWords, Program } from "./program.ts";
import { looking, sends, signsIn } from "./shared-rows.ts";

const cloudVerb =
  /^(?:deploy|publish|promote|rollout|release|create|update|delete|remove|put|apply|destroy|set|start|stop|restart|reboot|run|invoke|submit|sync|cp|mv|rm|rb|mb|up|swap|scale|import|attach|detach|terminate|register|replace|patch|rollback|rolling-action|execute|modify|upload|restore|purge|invalidate)(?:$|-)|-(?:deploy|deployment|stack|publish|update)$/;

const dangers: readonly DangerRow[] = [
  {
    rule: "floor/deploy",
    verdict: "ask",
    reason: "$ reaches a cloud.",
    none: looking,
  },
];

const infrastructure: DeployWords = {
  anyOperand: /^(?:apply|destroy|import|deploy|run-all|apply-all|destroy-all|state|taint|untaint|force-unlock)$/,
};
const services: DeployWords = {
  anyOperand: /^(?:deploy|push|create|terminate|upgrade|swap|clone|scale|restart|redeploy|delete)/,
};
const vercel: DeployWords = {
  bare: true,
  anyOperand: /^(?:deploy|promote|rollback|redeploy|alias|remove|rm|env|domains)$/,
  option: /^--prod(?:uction)?$/,
};
const netlify: DeployWords = {
  anyOperand: /^(?:deploy|build|env:set|env:unset|sites:delete)$|^deploy/,
  option: /^--prod(?:uction)?$/,
};
const platforms: DeployWords = {
  anyOperand:
    /deploy|publish|promote|release|submit|rollout|^(?:up|push|update|launch|ship|redeploy|rollback|setup|apps)$|:(?:create|destroy|set)$/,
};

/** Infrastructure, clouds and platforms: what changes there is used by others. */
export const clouds: readonly Program[] = [
  { names: "terraform tofu", otherwise: {}, dangers: [signsIn], deploys: infrastructure },
  { names: "terragrunt terramate tfx cdktf", deploys: infrastructure },
  { names: "pulumi", deploys: { verb: /^(?:up|update|destroy|import|refresh|cancel|state|deployment)$/ } },
  { names: "cdk cdk8s", deploys: { verb: /^(?:deploy|destroy|bootstrap|import|rollback|watch)$/ } },
  {
    names:
      "ansible ansible-playbook ansible-pull ansible-console mitogen salt salt-call salt-ssh puppet chef chef-client knife pyinfra",
    deploys: { bare: true, verb: /./ },
  },
  {
    names: "serverless sls sst sam chalice zappa up apex arc claudia architect copilot amplify osls",
    deploys: { anyOperand: /^(?:deploy|remove|rollback|publish|push|sync|promote|up|update|undeploy|delete)$/ },
  },
  {
    names: "crossplane packer nixos-rebuild nixops colmena deploy-rs morph waypoint boundary",
    deploys: { anyOperand: /^(?:apply|build|switch|deploy|install|up|release|push)$/ },
  },
  { names: "aws gcloud az", otherwise: {}, dangers, deploys: { anyOperand: cloudVerb } },
  { names: "gsutil doctl", dangers, deploys: { anyOperand: cloudVerb } },
  {
    names: "bq ibmcloud oci aliyun linode-cli hcloud scw exo openstack civo vultr-cli s3cmd azcopy",
    deploys: { anyOperand: cloudVerb },
  },
  { names: "rclone", reaches: true, dangers: [sends], deploys: { anyOperand: cloudVerb } },
  { names: "eb", dangers, deploys: services },
  { names: "cf kf apps koyeb platform upsun clever scalingo", deploys: services },
  { names: "vercel", dangers, deploys: vercel },
  { names: "vc now", deploys: vercel },
  { names: "netlify", dangers, deploys: netlify },
  { names: "ntl", deploys: netlify },
  {
    names: "fly flyctl",
    dangers,
    deploys: { anyOperand: /^(?:deploy|launch|scale|secrets|apps?|machines?|destroy|restart|import)$/ },
  },
  {
    names: "wrangler",
    dangers: [signsIn],
    deploys: {
      anyOperand: /^(?:deploy|publish|delete|rollback|secret|versions|triggers|put|upload|execute|apply)$/,
    },
  },
  {
    names: "heroku",
    dangers,
    deploys: {
      anyOperand:
        /(?:^|:)(?:push|promote|release|rollback|restart|scale|set|unset|destroy|deploy|create|run|rebuild)$|^run/,
    },
  },
  { names: "firebase railway", dangers, deploys: platforms },
  {
    names:
      "render supabase convex expo eas fastlane shorebird dokku kamal cap mina shipit dpl deployctl edgio stormkit zeit appcenter hosting ember-cli-deploy genezio encore nhost appwrite modal porter northflank coolify caprover dokploy",
    deploys: platforms,
  },
  {
    names: "prisma drizzle-kit sequelize knex flyway liquibase alembic atlas",
    deploys: { anyOperand: /^(?:deploy|migrate|upgrade|update|push|apply)$/ },
  },
];
