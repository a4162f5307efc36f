package mail

import gomail "github.com/wneessen/go-mail"

// Dialing returns an SMTP mailer that reaches its server by dial.
func Dialing(m Mailer, dial gomail.DialContextFunc) Mailer {
	s := m.(smtpMailer)
	s.dial = dial
	return s
}
