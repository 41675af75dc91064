# Speaks the Agent Client Protocol: answers a prompt with `rate` pieces of text a second for `seconds`, each with the
# time at which it was written.
use strict;
use warnings;
use Time::HiRes qw(time sleep);

$| = 1;
my ($rate, $seconds) = @ARGV;
my $rest = 'x' x 180;
my %results = (
  'initialize' => '{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}',
  'session/new' => '{"sessionId":"s"}',
  'session/prompt' => '{"stopReason":"end_turn"}',
);

sub pieces {
  my $start = time;
  for my $n (0 .. $rate * $seconds - 1) {
    my $pause = $start + $n / $rate - time;
    sleep $pause if $pause > 0;
    my $at = sprintf '%.3f', time * 1000;
    my $update = qq({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\@$at $rest"}});
    print qq({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":$update}}\n);
  }
}

while (my $line = <STDIN>) {
  my ($method) = $line =~ /"method":"([^"]+)"/ or next;
  my ($id) = $line =~ /"id":("[^"]*"|\d+)/ or next;
  pieces() if $method eq 'session/prompt';
  my $result = $results{$method} // '{}';
  print qq({"jsonrpc":"2.0","id":$id,"result":$result}\n);
}
