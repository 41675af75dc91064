# Stands in for claude: answers the handshake, the first prompt with nothing, so that it has been started, and the others
# with `rate` events a second for `seconds`, each with the time at which it was written. In Perl, because hundreds of it must cost little beside the server that is measured.
use strict;
use warnings;
use Time::HiRes qw(time sleep);

$| = 1;
my ($rate, $seconds) = @ARGV;
my $rest = 'x' x 180;
my $turns = 0;

sub event { print qq({"type":"stream_event","event":$_[0],"session_id":"s","parent_tool_use_id":null}\n) }

sub events {
  event('{"type":"message_start","message":{"id":"m","role":"assistant","model":"m","content":[]}}');
  event('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}');
  # Hundreds of agents do not speak at the same moment.
  my $start = time + rand(1 / $rate);
  for my $n (0 .. $rate * $seconds - 1) {
    my $pause = $start + $n / $rate - time;
    sleep $pause if $pause > 0;
    my $at = sprintf '%.3f', time * 1000;
    event(qq({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\@$at $rest"}}));
  }
}

while (my $line = <STDIN>) {
  if ($line =~ /"type":"control_request"/ && $line =~ /"request_id":"([^"]+)"/) {
    print qq({"type":"control_response","response":{"subtype":"success","request_id":"$1","response":{"commands":[],"models":[]}}}\n);
  }
  elsif ($line =~ /"type":"user"/) {
    events() if $turns++ > 0;
    print qq({"type":"result","subtype":"success","is_error":false,"result":""}\n);
  }
}
