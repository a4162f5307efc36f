# Tells firstpick which AI agents read this site; guide: https://firstpick.example/setup.md
# Views by people are not sent, unless an agent's link or an assistant brought them. Does nothing without a key.
require "json"
require "net/http"
require "securerandom"
require "time"
require "uri"

# A Rack middleware. visitor may be a callable that returns your own id of the session, given the environment.
class AgentCollect
  ASSET = %r{\.(css|js|mjs|cjs|map|wasm|webmanifest|png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|heic|woff2?|ttf|otf|eot|mp3|mp4|m4a|m4v|webm|og[gav]|wav|mov|avi|m3u8|ts|zip|gz|tgz|bz2|xz|br|7z|rar|tar|dmg|exe|msi|deb|rpm|pkg|iso)$}i
  BUILD = %r{^\/(_next|_vercel|cdn-cgi|_nuxt|_app)\/}
  KEEP = %r{^\/\.well-known\/|\/openapi\.[^\/]*$}i
  HEALTH = %r{^(kube-probe|elb-healthchecker|googlehc|consul)}i
  BROWSER = %r{^(mozilla|opera)\/}i
  MARK = %r{[^u]bot|crawl|spider|slurp|scrap|fetch|agent|-user|preview|https?:|compatible; (?!msie|konq)|headless|cursor\/|windsurf\/|trae\/|chatgpt\/|genspark|\) code(-insiders)?\/1|devin|novaact|anchor }i
  ASSISTANT = %r{^https?:\/\/(www\.)?(chatgpt\.com|(chat|labs)\.openai\.com|claude\.ai|perplexity\.ai|(gemini|bard|notebooklm|aistudio)\.google\.com|copilot\.(microsoft\.)?com|grok\.com|x\.com\/i\/grok|(l\.)?meta\.ai|(chat|lechat)\.mistral\.ai|chat\.deepseek\.com|chat\.qwen\.ai|tongyi\.aliyun\.com|kimi\.(com|ai|moonshot\.cn)|doubao\.com|(ai|yiyan)\.baidu\.com|chatglm\.cn|you\.com|duck\.ai|phind\.com|poe\.com|assistant\.kagi\.com|kagi\.com\/assistant|search\.brave\.com\/ask|(iask|character|app\.jasper)\.ai|app\.writesonic\.com|manus\.im|andisearch\.com|liner\.com|chat-gpt\.org|chatplus\.com)([\/:?#]|$)}i
  TAGS = %w[via vt utm_source utm_medium utm_campaign ref].freeze

  attr_reader :stats

  def initialize(app, key: nil, url: nil, source: "rack", send_all: false, visitor: nil)
    @app, @source, @send_all, @visitor = app, source, send_all, visitor
    @key = key || ENV["FIRSTPICK_KEY"].to_s
    base = url || ENV["FIRSTPICK_URL"].to_s
    @endpoint = URI((base.empty? ? "https://firstpick.example" : base).chomp("/") + "/api/collect")
    @stats = { sent: 0, rejected: 0, failed: 0, dropped: 0 }
    @lock, @sending, @queue = Mutex.new, Mutex.new, []
    at_exit { flush(5) }
  end

  def call(env)
    answer = @app.call(env)
    touch(env, answer[0].to_i)
    answer
  rescue StandardError
    touch(env, 500)
    raise
  end

  # Queues an event of any type; its id stays the same when it is sent again.
  def push(event)
    return if @key.empty?
    @lock.synchronize do
      start if @pid != Process.pid # threads do not survive a fork
      (@queue.shift; @stats[:dropped] += 1) if @queue.size >= 5000
      @queue << { id: SecureRandom.uuid, ts: Time.now.utc.iso8601(3) }.merge(event)
    end
  end

  # Sends what waits, for at most so many seconds. Not for the path of a request.
  def flush(seconds = Float::INFINITY)
    stop = now + seconds
    @sending.synchronize do
      while @pid == Process.pid && now < stop && (batch = @lock.synchronize { @queue.shift(100) }).any?
        outcome = post(batch)
        (sleep 1; outcome = post(batch)) if outcome == :failed
        @stats[outcome] += batch.size
      end
    end
  end

  private

  def start
    @queue.clear if @pid # what waits is the parent's to send
    @pid, @sending = Process.pid, Mutex.new
    Thread.new { loop { 20.times { sleep 0.1 if @queue.size < 100 }; flush } }
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def touch(env, status)
    path, query, method, ua = env["PATH_INFO"].to_s, env["QUERY_STRING"].to_s, env["REQUEST_METHOD"], env["HTTP_USER_AGENT"].to_s
    path = env["SCRIPT_NAME"].to_s + path
    return if @key.empty? || !%w[GET HEAD].include?(method) || HEALTH.match?(ua)
    return if (ASSET.match?(path) || BUILD.match?(path)) && !KEEP.match?(path)
    tags = URI.decode_www_form(query).select { |name, _| TAGS.include?(name) } rescue []
    referrer = env["HTTP_REFERER"].to_s[/\A[^?#]*/]
    agent = !BROWSER.match?(ua) || MARK.match?(ua) || env["HTTP_SIGNATURE_AGENT"] || /markdown/i.match?(env["HTTP_ACCEPT"].to_s)
    return unless agent || @send_all || ASSISTANT.match?(referrer) || tags.any? { |name, _| %w[via vt utm_source].include?(name) }
    push({
      type: "touch", host: env["HTTP_HOST"], path: (tags.empty? ? path : "#{path}?#{URI.encode_www_form(tags)}")[0, 1024], method: method, status: status,
      visitorToken: @visitor&.call(env),
      signals: {
        source: @source, userAgent: ua, referrer: referrer, accept: env["HTTP_ACCEPT"], ip: agent || @send_all ? client_ip(env) : nil,
        signature: env["HTTP_SIGNATURE"], signatureInput: env["HTTP_SIGNATURE_INPUT"], signatureAgent: env["HTTP_SIGNATURE_AGENT"]
      }.compact.transform_values { |text| text[0, 1024] } # what strangers send must not make a request too large
    }.compact)
  rescue StandardError # a report must never break a page
    @stats[:failed] += 1
  end

  # Believes X-Forwarded-For as far as your own proxies wrote it: FIRSTPICK_TRUSTED_PROXIES=1, or FIRSTPICK_IP_HEADER=cf-connecting-ip.
  def client_ip(env)
    hops = env["HTTP_X_FORWARDED_FOR"].to_s.split(",").map(&:strip).reject(&:empty?)
    header, proxies = ENV["FIRSTPICK_IP_HEADER"].to_s, ENV["FIRSTPICK_TRUSTED_PROXIES"].to_i
    return env["HTTP_" + header.upcase.tr("-", "_")] unless header.empty?
    return hops[-proxies] if proxies > 0
    env["REMOTE_ADDR"] if hops.empty? && !env["HTTP_FORWARDED"] && !env["HTTP_VIA"]
  end

  def post(events)
    body = JSON.generate({ sentAt: Time.now.utc.iso8601(3), events: events })
    head = { "Content-Type" => "application/json", "Authorization" => "Bearer #{@key}" }
    options = { use_ssl: @endpoint.scheme == "https", open_timeout: 3, read_timeout: 3, write_timeout: 3, max_retries: 0 }
    code = Net::HTTP.start(@endpoint.host, @endpoint.port, **options) { |http| http.post(@endpoint.path, body, head).code.to_i }
    code >= 500 || code == 429 ? :failed : code >= 300 ? :rejected : :sent
  rescue StandardError
    :failed
  end
end
