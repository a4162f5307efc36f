# Serves a Rack application, as far as the tests need it: HTTP/1.1, GET and HEAD, a connection for each request.
require "socket"
require_relative "lib/agent_collect"

FOUND = %w[/ /docs /docs.md /robots.txt /llms.txt /sitemap.xml /openapi.json /.well-known/agent.json /style.css /logo.png /_next/static/app.js].freeze

site = lambda do |env|
  raise "boom" if env["PATH_INFO"] == "/boom"
  [FOUND.include?(env["PATH_INFO"]) ? 200 : 404, { "content-type" => "text/html" }, ["this is #{env['PATH_INFO']}"]]
end
app = AgentCollect.new(site, visitor: ->(env) { env["HTTP_X_SESSION"] })

server = TCPServer.new("127.0.0.1", 0)
$stdout.puts "listening on http://127.0.0.1:#{server.addr[1]}/"
$stdout.flush
loop do
  Thread.new(server.accept) do |socket|
    method, target, = socket.gets.split
    path, query = target.split("?", 2)
    env = { "REQUEST_METHOD" => method, "SCRIPT_NAME" => "", "PATH_INFO" => path, "QUERY_STRING" => query.to_s, "REMOTE_ADDR" => socket.peeraddr[3] }
    while (line = socket.gets.chomp) != ""
      name, value = line.split(":", 2)
      env["HTTP_#{name.upcase.tr('-', '_')}"] = value.strip
    end
    status, headers, body = begin
      app.call(env)
    rescue RuntimeError
      [500, {}, ["sorry"]]
    end
    socket.write "HTTP/1.1 #{status} Whatever\r\nConnection: close\r\n#{headers.map { |n, v| "#{n}: #{v}\r\n" }.join}\r\n"
    body.each { |part| socket.write part } unless method == "HEAD"
    socket.close
  end
end
