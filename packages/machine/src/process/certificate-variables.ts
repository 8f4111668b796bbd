/** Variables that name a file of trusted certificates, as company networks need them. */
export const certificateVariables: readonly string[] = [
  ..."SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO".split(" "),
  ..."PIP_CERT CARGO_HTTP_CAINFO npm_config_cafile NPM_CONFIG_CAFILE AWS_CA_BUNDLE NIX_SSL_CERT_FILE".split(" "),
];
