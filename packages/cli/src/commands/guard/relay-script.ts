import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";

/**
 * The program that a guarded agent starts for each call. It is in Perl, which starts in a few milliseconds where Node takes
 * fifty or more, and which macOS and nearly every Linux with git has. It asks a server of this user over its Unix socket and
 * prints the answer. If no server listens, it replaces itself with the program in its arguments, with the whole input unread.
 * Only `strict` is loaded: each further module costs as much as all the rest.
 *
 * Arguments: that program, its arguments, the agent's id last. Environment: `GENNAI_STATE_DIR`, and `GENNAI_GUARD_PROJECT` if
 * the agent may run elsewhere in the project. Exit codes: 0, or 2 for a refusal, with its reason on standard error.
 * @see openGuardDoor
 */
export const relayScript = String.raw`use strict;

my @otherwise = @ARGV;
my $agent = $ARGV[-1];
my $servers = "$ENV{GENNAI_STATE_DIR}/servers";
my $seconds = 20;

sub refuse {
  my ($why) = @_;
  $why =~ s/\s+/ /g;
  print STDERR "Gennai guards this agent and could not judge the call (" . substr($why, 0, 500) . "), so nothing is changed. "
    . "Tell the user: start it with 'gennai serve'. Or take the guard away, for its next session, with 'gennai guard uninstall $agent'.\n";
  exit 2;
}

sub otherwise {
  alarm 0;
  exec { $otherwise[0] } @otherwise;
  refuse("$otherwise[0] cannot be started");
}

# Where the shell says that it is may be a link's name, which is as good; it may not be another place.
sub here {
  my @said = stat($ENV{PWD} || "");
  my @real = stat ".";
  return $ENV{PWD} if @said && @real && $ENV{PWD} =~ m{^/} && $said[0] == $real[0] && $said[1] == $real[1];
  my $place = qx(/bin/pwd -P);
  chomp $place;
  return $place;
}

# Servers as they announced themselves: one of the project first, then the newest.
sub announced {
  my ($project) = @_;
  my @found;
  opendir(my $listing, $servers) or return;
  for my $name (grep { /\.json$/ } readdir $listing) {
    open(my $file, "<", "$servers/$name") or next;
    my @stat = stat $file;
    next if $stat[4] != $> || $stat[2] & 077;
    read($file, my $text, 65536);
    my ($token) = $text =~ /"token": "([^"\\\s]+)"/ or next;
    my ($workspace) = $text =~ /"workspace": "((?:[^"\\]|\\.)*)"/;
    my $mine = defined $workspace && $workspace eq $project ? 1 : 0;
    push @found, [$mine, $stat[9], $servers . "/" . substr($name, 0, -5) . ".sock", $token, $text =~ /"pid": (\d+)/];
  }
  return sort { $b->[0] <=> $a->[0] || $b->[1] <=> $a->[1] } @found;
}

# One that is stopped, as by Ctrl-Z, would take the question and say nothing.
sub stopped {
  open(my $file, "<", "/proc/$_[0]/stat") or return;
  return <$file> =~ /\) [Tt] [^)]*$/;
}

# AF_UNIX and SOCK_STREAM are 1 on all systems; only BSDs say the length.
sub address {
  my ($path) = @_;
  return $^O =~ /darwin|bsd/ ? pack("CCa*", length($path) + 3, 1, "$path\0") : pack("Sa*", 1, "$path\0");
}

# From here on: a server that stands still, and whose line is full, keeps who connects waiting.
$SIG{PIPE} = "IGNORE";
$SIG{ALRM} = sub { refuse("no answer within $seconds seconds") };
alarm $seconds;

# Nobody else may be able to put a socket there.
my @directory = stat $servers or otherwise();
otherwise() if $directory[4] != $> || $directory[2] & 022;

my $project = $ENV{GENNAI_GUARD_PROJECT} || ($agent eq "claude-code" && $ENV{CLAUDE_PROJECT_DIR}) || here();
my ($server, $token, $asleep);
for (announced($project)) {
  my (undef, undef, $path, $its, $pid) = @$_;
  next if length $path > 100;
  $asleep = $pid, next if defined $pid && stopped($pid);
  socket(my $socket, 1, 1, 0) or next;
  connect($socket, address($path)) or next;
  ($server, $token) = ($socket, $its);
  last;
}
refuse("its server is stopped: 'kill -CONT $asleep' lets it go on") if $asleep && !$server;
otherwise() unless defined $server;

binmode $_ for \*STDIN, \*STDOUT, $server;

my $payload = do { local $/; <STDIN> };
$project =~ s/(["\\\x00-\x1f])/sprintf "\\u%04x", ord $1/ge;
my $body = qq({"payload":$payload,"host":"$agent","workingDir":"$project"});
my $request = join("\r\n", "POST PATH HTTP/1.0", "Host: localhost", "Authorization: Bearer $token",
  "Content-Type: application/json", "Connect-Protocol-Version: 1", "Content-Length: " . length $body, "", $body);
while (length $request) {
  my $written = syswrite $server, $request;
  last unless $written;
  substr($request, 0, $written, "");
}
my $answer = do { local $/; <$server> } // "";
my ($head, $said) = split /\r\n\r\n/, $answer, 2;
refuse("it gave no answer") unless defined $said;
refuse($said) unless $head =~ m{^HTTP/1\.[01] 200 };
my ($length) = $head =~ /^content-length: *(\d+)/im;
refuse("its answer broke off") unless defined $length && $length == length $said;
exit 0 if $said eq "{}";
refuse("it answered something else") unless $said =~ /^\{"answer":(\{.*\})\}$/s;
print "$1\n" and close STDOUT or refuse("its answer could not be said");
`.replace("PATH", `/${GovernanceService.typeName}/${GovernanceService.method.guardCall.name}`);
