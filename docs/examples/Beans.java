public class Beans {
    static int brew(int cups) {
        int perCup = 8;
        return cups * perCup;
    }

    public static void main(String[] arguments) {
        int left = 100;
        left -= brew(1);
        System.out.println(left + " beans are left");
    }
}
