# A day in the life of a client by openapi-generator (Ruby).
# frozen_string_literal: true

require 'generated'
require 'json'
require 'uri'

RUN_ID = ENV.fetch('RUN_ID')

def client_with(key)
  address = URI(ENV.fetch('API_URL'))
  configuration = Generated::Configuration.new do |user|
    user.scheme = address.scheme
    user.host = "#{address.host}:#{address.port}"
    user.base_path = address.path
    user.access_token = key
    # Without it Typhoeus names the values of a list `status[0]` and `status[1]`.
    user.params_encoding = :multi
  end
  Generated::ApiClient.new(configuration)
end

def upload(client, speakers = nil)
  form = { idempotency_key: RUN_ID }
  form[:speakers] = speakers unless speakers.nil?
  Generated::TranscriptionsApi.new(client).create_transcription(File.new(ENV.fetch('AUDIO'), 'rb'), form)
end

def final_transcript(sessions, id)
  loop do
    transcript = sessions.get_transcript(id, wait: 30, include: Generated::TranscriptInclude::WORDS)
    return transcript if %w[completed failed].include?(transcript.status)
  end
end

# Errors carry the body as text; the type to read it with is generated.
def code_of
  yield
  raise 'no error'
rescue Generated::ApiError => e
  Generated::Problem.build_from_hash(JSON.parse(e.response_body)).code
end

client = client_with(ENV.fetch('API_KEY'))
sessions = Generated::SessionsApi.new(client)
session_id = upload(client).session_id
segments = final_transcript(sessions, session_id).segments
final = [Generated::SessionStatus::COMPLETED, Generated::SessionStatus::FAILED]
puts JSON.generate(
  listed: sessions.list_sessions(limit: 5, status: final).items.length,
  status: sessions.get_session(session_id).status,
  segments: segments.length,
  text: segments.map(&:text).join(' '),
  words: segments.sum { |segment| (segment.words || []).length },
  problems: [
    code_of { Generated::SessionsApi.new(client_with('wrong')).list_sessions },
    code_of { sessions.get_session(RUN_ID) },
    code_of { upload(client, 1) }
  ]
)
